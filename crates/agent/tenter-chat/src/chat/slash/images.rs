//! `/image`: images that are attached to the next message.

use tenter_agent::attachments::read_image;
use tenter_base::one_line;
use tenter_protocol::{Block, ImageSource};
use tenter_terminal::{FAINT, Failure, NAME, styled, ui};

use super::{CommandContext, SlashResult};
use crate::chat::words::{self, PathBases};

/// Removes the attached images.
const CLEAR: &str = "clear";
/// Maximum number of characters shown of a file or URL.
const LENGTH: usize = 200;

/// An image that is attached to the next message.
pub(in crate::chat) struct AttachedImage {
    /// The file or URL, as the user wrote it.
    source: String,
    /// The image.
    pub(in crate::chat) block: Block,
}

impl AttachedImage {
    /// Returns the images of `--image`, which were read from `sources`.
    pub(in crate::chat) fn from_flags(sources: &[String], images: Vec<Block>) -> Vec<Self> {
        let sources_with_images = sources.iter().zip(images);
        sources_with_images.map(|(source, block)| Self { source: source.clone(), block }).collect()
    }

    fn line(&self) -> String {
        let about = match &self.block {
            Block::Image(image) => match &image.source {
                ImageSource::Data(data) => {
                    format!("{}, {}", image.media_type, size(data.len() / 4 * 3))
                }
                ImageSource::Url(_) => image.media_type.clone(),
            },
            _ => String::new(),
        };
        format!("  {}  {}", styled(NAME, one_line(&self.source, LENGTH)), styled(FAINT, about))
    }
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{} MiB", bytes.div_ceil(1_048_576)),
    }
}

/// Attaches images, lists the attached ones, or removes them.
pub(super) fn image(context: &mut CommandContext, argument: &str) -> SlashResult {
    let attached = &mut context.chat.images;
    match argument {
        "" => {}
        CLEAR if attached.is_empty() => {}
        CLEAR => {
            attached.clear();
            ui::note("Removed the attached images.");
            return Ok(None);
        }
        _ => attached.extend(read(&PathBases::new(context.chat.project.env), argument)?),
    }
    if attached.is_empty() {
        ui::note("No image is attached. `/image FILE` attaches one to your next message.");
        return Ok(None);
    }
    ui::note("Attached to your next message:");
    attached.iter().map(AttachedImage::line).for_each(ui::note);
    Ok(None)
}

/// Reads all of the named images, or none.
fn read(places: &PathBases, argument: &str) -> Result<Vec<AttachedImage>, Failure> {
    // A path with spaces or quotes that are not escaped, as some terminals paste it.
    let sources = if places.resolve(argument).is_file() {
        vec![argument.to_owned()]
    } else {
        words::split(argument).into_iter().map(|word| word.text).collect()
    };
    let read = |source: String| {
        let is_home = source.starts_with('~');
        let path = places.resolve(&source);
        let path_text = path.to_str().filter(|_| is_home).unwrap_or(&source);
        read_image(path_text, &places.cwd)
            .map(|block| AttachedImage { source: source.clone(), block })
            .map_err(|error| Failure::usage(error.to_string()))
    };
    sources.into_iter().map(read).collect()
}
