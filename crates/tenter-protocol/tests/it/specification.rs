//! Input that is not written by somebody who wants a hook.
