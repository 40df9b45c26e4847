//! The diagnostic codes of manifests.

use super::limits::MAX_FILE_SIZE;
use crate::front_matter::{Code, Format};

/// The format of a `HOOK.md`.
pub(super) const FORMAT: Format = Format {
    max_file_size: MAX_FILE_SIZE,
    too_large_help: "move the text to another file of the directory",
    required_fields: &["name", "description", "trigger"],
    file_too_large: Code::error("manifest-too-large"),
    too_large: Code::error("manifest-too-large"),
    encoding: Code::error("manifest-encoding"),
    fence: Code::error("manifest-no-front-matter"),
    syntax: Code::error("manifest-syntax"),
    duplicate_key: Code::error("manifest-duplicate-key"),
    escape: Code::warning("manifest-escape"),
    more: "manifest-more-problems",
};

pub(super) const UNKNOWN_KEY: Code = Code::lenient("manifest-unknown-key");
pub(super) const NAME: Code = Code::error("manifest-name");
pub(super) const DIRECTORY_NAME: Code = Code::lenient("manifest-folder-name");
pub(super) const DESCRIPTION: Code = Code::lenient("manifest-description");
pub(super) const TRIGGER: Code = Code::error("manifest-trigger");
/// An error in any case: without its matcher, a hook would run for every tool.
pub(super) const MATCHER: Code = Code::error("manifest-matcher");
pub(super) const MATCHER_EMPTY: Code = Code::lenient("manifest-matcher");
pub(super) const MATCHER_IGNORED: Code = Code::warning("manifest-matcher-ignored");
pub(super) const PATTERN: Code = Code::error("manifest-pattern");
pub(super) const PATTERN_REMARK: Code = Code::warning("manifest-pattern-remark");
pub(super) const TIMEOUT: Code = Code::lenient("manifest-timeout");
pub(super) const ASYNC: Code = Code::lenient("manifest-async");
pub(super) const ASYNC_CANNOT_BLOCK: Code = Code::warning("manifest-async-cannot-block");
pub(super) const PRIORITY: Code = Code::lenient("manifest-priority");
pub(super) const METADATA: Code = Code::lenient("manifest-metadata");
pub(super) const METADATA_KEY: Code = Code::warning("manifest-metadata-key");
pub(super) const EXTENSION: Code = Code::error("manifest-extension");
pub(super) const RULE: Code = Code::error("manifest-match");
pub(super) const ACTION: Code = Code::error("manifest-action");
pub(super) const ACTION_IGNORED: Code = Code::lenient("manifest-action-ignored");
pub(super) const TEMPLATE: Code = Code::error("manifest-template");
pub(super) const TEMPLATE_FIELD: Code = Code::lenient("manifest-unknown-field");
