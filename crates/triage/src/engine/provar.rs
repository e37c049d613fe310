//! The seventeen buckets of Provar's failure report, and what they are here.
//!
//! Several buckets share a root cause, since they are mended alike; the rule
//! of a diagnosis keeps them apart.

use jelly_base::model::ProvarBucket;

const fn bucket(
    bucket: &'static str,
    root_cause: &'static str,
    rule: &'static str,
    example: &'static str,
) -> ProvarBucket {
    ProvarBucket {
        bucket,
        root_cause,
        rule,
        example,
    }
}

/// All of them, in Provar's order.
pub const PROVAR: &[ProvarBucket] = &[
    bucket(
        "DRIVER_VERSION_MISMATCH",
        "driver_version_mismatch",
        "browser/driver-version",
        "session not created: This version of ChromeDriver only supports Chrome version 114",
    ),
    bucket(
        "LOCATOR_STALE",
        "locator_stale",
        "browser/element-stale",
        "org.openqa.selenium.StaleElementReferenceException: stale element reference: stale element not found",
    ),
    bucket(
        "TIMEOUT",
        "wait_timeout",
        "browser/waited-in-vain",
        "org.openqa.selenium.TimeoutException: Expected condition failed: waiting for url to contain \"/home\"",
    ),
    bucket(
        "ASSERTION_FAILED",
        "assertion_mismatch",
        "salesforce/assertion",
        "UI Assert - Stage: expected \"Closed Won\" but was \"Prospecting\"",
    ),
    bucket(
        "CREDENTIAL_FAILURE",
        "auth_failed",
        "salesforce/login",
        "INVALID_LOGIN: Invalid username, password, security token; or user locked out.",
    ),
    bucket(
        "MISSING_CALLABLE",
        "missing_module",
        "salesforce/callable-missing",
        "Callable test case 'Common/Login.testcase' not found",
    ),
    bucket(
        "METADATA_CACHE",
        "stale_metadata",
        "salesforce/metadata-cache",
        "Failed to load metadata cache for connection Admin",
    ),
    bucket(
        "PAGE_OBJECT_COMPILE",
        "compile_error",
        "salesforce/page-object",
        "Page Object pageobjects.Login could not be compiled",
    ),
    bucket(
        "CONNECTION_REFUSED",
        "connection_refused",
        "network/refused",
        "java.net.ConnectException: Connection refused",
    ),
    bucket(
        "DATA_SETUP",
        "data_setup",
        "report/data",
        "java.io.FileNotFoundException: src/test/resources/users.json (No such file or directory)",
    ),
    bucket(
        "LICENSE_INVALID",
        "license_invalid",
        "ci/license",
        "No valid license found for Provar",
    ),
    bucket(
        "SALESFORCE_VALIDATION",
        "data_setup",
        "salesforce/validation",
        "FIELD_CUSTOM_VALIDATION_EXCEPTION, Close date must be in the future: [CloseDate]",
    ),
    bucket(
        "SALESFORCE_PICKLIST",
        "data_setup",
        "salesforce/picklist",
        "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST, bad value for restricted picklist field: Gold: [Rating]",
    ),
    bucket(
        "SALESFORCE_REFERENCE",
        "data_setup",
        "salesforce/reference",
        "INVALID_CROSS_REFERENCE_KEY, invalid cross reference id: []",
    ),
    bucket(
        "SALESFORCE_ACCESS",
        "permission_denied",
        "salesforce/access",
        "INSUFFICIENT_ACCESS_OR_READONLY, insufficient access rights on object id: []",
    ),
    bucket(
        "SALESFORCE_TRIGGER",
        "code_exception",
        "salesforce/trigger",
        "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY, OrderTrigger: execution of BeforeUpdate",
    ),
    bucket(
        "UNKNOWN",
        "unknown",
        "unknown/no-rule",
        "Test step did not succeed",
    ),
];

#[cfg(test)]
mod tests {
    use super::PROVAR;
    use crate::engine::{Engine, Field, specimen};

    #[test]
    fn a_text_of_every_bucket_is_diagnosed_as_the_table_says() {
        assert_eq!(PROVAR.len(), 17);
        for bucket in PROVAR {
            let diagnosis = Engine::builtin().diagnose(&specimen(Field::Report, bucket.example));
            assert_eq!(
                (diagnosis.root_cause.as_str(), diagnosis.rule.as_str()),
                (bucket.root_cause, bucket.rule),
                "{}",
                bucket.bucket
            );
        }
    }
}
