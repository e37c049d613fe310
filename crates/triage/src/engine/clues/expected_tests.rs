use super::expected_class;
use crate::engine::test_failure::diagnose;
use jelly_base::model::Side;

fn raised(wanted: &str, error: &str) -> String {
    format!(
        "def test_book():\n        with pytest.raises({wanted}):\n>           shop.book(7)\n\ntests/test_book.py:14: \n_ _ _ _\nshop/book.py:16: in book\n    return fetch()\nE   {error}\n\nshop/book.py:16: Error"
    )
}

const REFUSED: &str = "ConnectionRefusedError: [Errno 111] Connection refused";

#[test]
fn an_error_where_another_is_expected_is_told_by_the_expected_one() {
    for (wanted, error, side, root_cause) in [
        ("shop.GatewayTimeout", REFUSED, Side::Code, "expected_error"),
        ("shop.NotFound", REFUSED, Side::Test, "connection_refused"),
        (
            "service.OutOfStock",
            REFUSED,
            Side::Test,
            "connection_refused",
        ),
        ("Http404", REFUSED, Side::Test, "connection_refused"),
        (
            "shop.NotFound",
            "KeyError: 'seat'",
            Side::Code,
            "expected_error",
        ),
        // No product makes another error of these.
        (
            "shop.GatewayTimeout",
            "OSError: [Errno 28] No space left on device",
            Side::Test,
            "resource_exhausted",
        ),
        (
            "shop.GatewayTimeout",
            "ModuleNotFoundError: No module named 'grpc'",
            Side::Test,
            "missing_module",
        ),
    ] {
        let of = diagnose("", &raised(wanted, error));
        assert_eq!(
            (of.side, &*of.root_cause),
            (side, root_cause),
            "{wanted} {error}"
        );
    }
}

#[test]
fn a_mistake_in_the_line_of_the_test_is_the_tests() {
    let text = "def test_a():\n        with pytest.raises(shop.NotEnough):\n>           shp.pay()\nE           NameError: name 'shp' is not defined\n\ntests/test_a.py:3: NameError";
    assert_eq!(diagnose("", text).side, Side::Test);
}

#[test]
fn what_a_library_refuses_the_test_is_undecided() {
    let text = "def test_a():\n        with pytest.raises(ValueError):\n>           frames.load('a')\n\ntests/test_a.py:3: \n_ _ _\n\n    def load(path):\n>       raise FormatError('no rows')\nE       frames.errors.FormatError: no rows\n\n.venv/lib/python3.12/site-packages/frames/io.py:9: FormatError";
    let of = diagnose("", text);
    assert!(of.side == Side::Test, "{}", of.rule);
}

#[test]
fn only_the_block_around_the_failing_line_expects() {
    let text = raised("A", "KeyError: 1");
    assert_eq!(expected_class(&text), Some("A"));
    let behind = text.replace(">           shop", ">       shop");
    assert_eq!(expected_class(&behind), None);
    let ended = text.replace(
        ">           shop.book(7)",
        "            shop.pay()\n        for order in orders:\n>           shop.book(order)",
    );
    assert_eq!(expected_class(&ended), None);
    let nested = text.replace(
        ">           shop.book(7)",
        "            with mock.patch('a'):\n>               shop.book(7)",
    );
    assert_eq!(expected_class(&nested), Some("A"));
}

#[test]
fn a_sentinel_of_go_tells_of_machines_by_its_own_name() {
    let told = |sentinel: &str, error: &str| {
        diagnose(
            "",
            &format!("    a_test.go:52: errors.Is(err, {sentinel}) = false, err = {error}"),
        )
    };
    let refused = "dial tcp 127.0.0.1:40911: connect: connection refused";
    assert_eq!(told("ErrPeerDown", refused).side, Side::Code);
    assert_eq!(
        told("service.ErrInsufficientStock", refused).side,
        Side::Test
    );
    let bound = "listen tcp :8080: bind: address already in use";
    assert_eq!(told("http.ErrServerClosed", bound).side, Side::Test);
}

#[test]
fn two_expected_errors_that_did_not_come_are_two_causes() {
    let print = |wanted: &str| diagnose("", &raised(wanted, "KeyError: 'id'")).fingerprint;
    assert_ne!(print("UnknownTariff"), print("SeatTaken"));
}

#[test]
fn what_a_double_was_told_to_raise_is_no_error_of_a_machine() {
    let text = "Traceback (most recent call last):\n  File \"/w/tests/test_parcels.py\", line 19, in test_carrier\n    parcels.book(c)\n  File \"/w/parcels.py\", line 29, in book\n    return carrier.book(label)\n  File \"/usr/lib/python3.11/unittest/mock.py\", line 1124, in __call__\n    return self._mock_call(*args, **kwargs)\n  File \"/usr/lib/python3.11/unittest/mock.py\", line 1183, in _execute_mock_call\n    raise effect\nConnectionResetError: [Errno 104] Connection reset by peer";
    let of = diagnose("ConnectionResetError", text);
    assert_eq!((of.side, &*of.root_cause), (Side::Code, "code_exception"));
    // A double that calls the real function.
    let real = "    def _execute_mock_call(self, /, *args, **kwargs):\n            raise effect\n>           result = effect(*args, **kwargs)\nE           OSError: [Errno 28] No space left on device\n\n/usr/lib/python3.11/unittest/mock.py:1187: OSError";
    assert_eq!(diagnose("", real).side, Side::Test);
}
