//! The loop, tested: rule by rule, and over thousands of random histories.

mod asks;
mod blame;
mod support;
mod verdicts;
