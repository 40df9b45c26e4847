//! Images attached to a message: from a file, or from a URL that the provider fetches.
//!
//! The type of a file is determined by its first bytes, not by its name; nothing is fetched, converted or resized here.

use std::path::{Path, PathBuf};
use std::{fs, io};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tenter_base::untrusted_file;
use tenter_protocol::{Block, Image, ImageSource};
use thiserror::Error;

/// Maximum size of an image in bytes: every provider accepts this much.
pub const MAX_IMAGE_BYTES: u64 = 5 * 1024 * 1024;

/// The formats that every provider reads, with their file name extensions.
const FORMATS: [(&str, &[&str]); 4] = [
    ("image/png", &["png"]),
    ("image/jpeg", &["jpg", "jpeg"]),
    ("image/gif", &["gif"]),
    ("image/webp", &["webp"]),
];

/// The reason why an image cannot be attached.
#[derive(Debug, Error)]
pub enum AttachmentError {
    /// The file cannot be read.
    #[error("the image {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// It is not a regular file.
    #[error("the image {} is not a file", .0.display())]
    NotAFile(PathBuf),
    /// The file exceeds [`MAX_IMAGE_BYTES`].
    #[error("the image {} has {bytes} bytes, more than the limit of {MAX_IMAGE_BYTES}; make it smaller", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        bytes: u64,
    },
    /// The file has none of the supported formats.
    #[error("{} is not a PNG, JPEG, GIF or WebP image; convert it to one of these", .0.display())]
    UnknownFormat(PathBuf),
    /// The URL does not end in a known extension.
    #[error(
        "the URL {0} does not end with .png, .jpg, .jpeg, .gif or .webp; download the image and pass the file"
    )]
    UnknownUrlType(String),
}

/// Reads an image as a block of a message. `source` is an `http://` or `https://` URL, or a file, relative to `base`.
///
/// # Errors
/// When it cannot be read, is too large, or has no supported format.
pub fn read_image(source: &str, base: &Path) -> Result<Block, AttachmentError> {
    let image = if is_address(source) {
        let media_type = type_of_address(source)
            .ok_or_else(|| AttachmentError::UnknownUrlType(source.to_owned()))?;
        Image { media_type: media_type.to_owned(), source: ImageSource::Url(source.to_owned()) }
    } else {
        let path = base.join(source);
        let bytes = read(&path)?;
        let media_type = type_of_bytes(&bytes).ok_or(AttachmentError::UnknownFormat(path))?;
        let data = STANDARD.encode(bytes);
        Image { media_type: media_type.to_owned(), source: ImageSource::Data(data) }
    };
    Ok(Block::Image(image))
}

fn is_address(source: &str) -> bool {
    let scheme = source.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// Returns the media type for the extension in a URL's path.
fn type_of_address(address: &str) -> Option<&'static str> {
    let (_, rest) = address.split_once("://")?;
    let (_host, path) = rest.split(['?', '#']).next()?.split_once('/')?;
    let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    FORMATS.iter().find(|(_, endings)| endings.contains(&ending.as_str())).map(|(name, _)| *name)
}

fn type_of_bytes(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn read(path: &Path) -> Result<Vec<u8>, AttachmentError> {
    let unreadable = |error| AttachmentError::Unreadable { path: path.to_owned(), error };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(AttachmentError::NotAFile(path.to_owned())); // opening a pipe would block
    }
    let too_large = |bytes| AttachmentError::TooLarge { path: path.to_owned(), bytes };
    if metadata.len() > MAX_IMAGE_BYTES {
        return Err(too_large(metadata.len()));
    }
    let bytes = untrusted_file::read_prefix(path, MAX_IMAGE_BYTES + 1).map_err(unreadable)?;
    let length = bytes.len() as u64;
    if length > MAX_IMAGE_BYTES { Err(too_large(length)) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    const HEADS: [(&[u8], &str); 5] = [
        (b"\x89PNG\r\n\x1a\n rest", "image/png"),
        (b"\xff\xd8\xff\xe0 rest", "image/jpeg"),
        (b"GIF89a rest", "image/gif"),
        (b"GIF87a rest", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
    ];

    fn error(source: &str, base: &Path) -> String {
        read_image(source, base).unwrap_err().to_string()
    }

    #[test]
    fn the_first_bytes_determine_the_type() {
        let directory = tempfile::tempdir().unwrap();
        for (bytes, media_type) in HEADS {
            fs::write(directory.path().join("picture.txt"), bytes).unwrap();
            let Block::Image(image) = read_image("picture.txt", directory.path()).unwrap() else {
                panic!("no image")
            };
            assert_eq!(image.media_type, media_type);
            let ImageSource::Data(data) = image.source else { panic!("no data") };
            assert_eq!(STANDARD.decode(data).unwrap(), bytes);
        }
    }

    #[test]
    fn other_files_are_rejected_with_their_path() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        for bytes in ["", "RIFF", "GIF8", "<svg/>"] {
            fs::write(base.join("cat.png"), bytes).unwrap();
            let error = error("cat.png", base);
            assert!(error.contains("cat.png is not a PNG, JPEG, GIF or WebP"), "{error}");
        }
        assert!(error("gone.png", base).contains("gone.png: No such file"));
        assert!(error(".", base).ends_with("is not a file"));
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, base.join("pipe.png"), kind, mode, 0).unwrap();
        assert!(error("pipe.png", base).ends_with("is not a file"));
    }

    #[test]
    fn the_size_limit_is_inclusive() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cat.png");
        fs::write(&path, HEADS[0].0).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(MAX_IMAGE_BYTES).unwrap();
        assert!(read_image("cat.png", directory.path()).is_ok());
        file.set_len(MAX_IMAGE_BYTES + 1).unwrap();
        let error = error("cat.png", directory.path());
        assert!(error.contains("5242881 bytes") && error.contains("make it smaller"), "{error}");
    }

    #[test]
    fn a_url_is_passed_on_and_needs_a_known_extension() {
        let base = Path::new("/");
        for (address, media_type) in [
            ("https://example.org/cat.png", "image/png"),
            ("HTTP://example.org/a.b/CAT.JPEG?size=3#top", "image/jpeg"),
            ("https://example.org/cat.webp#a.gif", "image/webp"),
        ] {
            let expected = Image {
                media_type: media_type.to_owned(),
                source: ImageSource::Url(address.to_owned()),
            };
            assert_eq!(read_image(address, base).unwrap(), Block::Image(expected));
        }
        for address in ["https://example.org/cat", "https://example.png/cat.svg", "https://a.png"] {
            assert!(error(address, base).contains("download the image"), "{address}");
        }
    }
}
