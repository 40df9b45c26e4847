//! Front matter: the YAML between two `---` lines at the top of a Markdown file.
//!
//! [`parse`] turns it into a tree in which every key and value has its position in the file. The methods of [`Report`] read
//! typed values from the tree and collect diagnostics that point at lines and columns. Manifests, recipes and skills are
//! formats on top of this module: each is a [`Format`] and a list of fields.
//!
//! ```
//! use std::path::Path;
//! use tenter_protocol::front_matter::{self, Code, Format, Report, Strictness, find};
//!
//! const TITLE: Code = Code::error("note-title");
//!
//! let mut report = Report::new(Path::new("note.md"), b"---\ntitle: [a]\n---\n", Strictness::Strict, &Format::GENERIC);
//! let document = front_matter::parse(&mut report).unwrap();
//! let title = find(&document.fields, "title").unwrap();
//! assert_eq!(report.text(title, &TITLE, "text"), None);
//! let (_, diagnostics) = report.finish(Some(()));
//! assert_eq!(diagnostics[0].message, "`title` is a list");
//! assert_eq!(diagnostics[0].span.as_ref().unwrap().column, 8);
//! ```

mod document;
mod fence;
mod fields;
mod report;
mod scalar;
mod tree;
mod yaml;

pub use document::{Document, MAX_SIZE, body, is_complete, parse, read};
pub use fields::IntegerRange;
pub use report::{Code, Format, Report, Strictness};
pub use scalar::{Meaning, Scalar, Style};
pub use tree::{Field, Node, NodeKind, find};

pub(crate) use report::quotable;
