//! An event stream as a list of events, and the effects of faults on it.

use std::time::Duration;

use serde_json::Value;

use crate::reply::Fault;

/// The kind of an event, which faults depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// A part of the text.
    Text,
    /// A part of the arguments of a call.
    Arguments,
    /// The end of the reply.
    Finish,
    /// Chat's `[DONE]`.
    Done,
    /// Anything else.
    Other,
}

/// One event, as sent.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) text: String,
    pub(super) mark: FrameKind,
}

impl Frame {
    /// Returns an event without a name.
    pub(super) fn data(data: &Value, mark: FrameKind) -> Self {
        Self { text: format!("data: {data}\n\n"), mark }
    }

    /// Returns an event whose name is the `type` of its data.
    pub(super) fn with_type(data: &Value, mark: FrameKind) -> Self {
        let name = data["type"].as_str().unwrap_or_default();
        Self { text: format!("event: {name}\ndata: {data}\n\n"), mark }
    }

    /// Returns the first half of the event.
    fn half(&self) -> Self {
        let letters = self.text.chars().count() / 2;
        Self { text: self.text.chars().take(letters).collect(), mark: self.mark }
    }
}

/// The end of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StreamEnd {
    Clean,
    /// The connection breaks.
    Cut,
    /// Nothing more comes, and the connection stays.
    Silent,
    /// Never: this text is repeated, with this delay.
    Endless(String, Duration),
}

/// A stream with its faults applied.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) frames: Vec<Frame>,
    pub(super) end: StreamEnd,
}

impl Plan {
    /// Creates the stream of a reply with these faults; `error` is the error event of the API.
    ///
    /// # Errors
    /// A fault does not apply to the reply, which is an error in the script.
    pub(super) fn new(frames: Vec<Frame>, faults: &[Fault], error: &Frame) -> Result<Self, String> {
        let mut plan = Self { frames, end: StreamEnd::Clean };
        for fault in faults {
            plan.apply(fault, error)?;
        }
        Ok(plan)
    }

    fn apply(&mut self, fault: &Fault, error: &Frame) -> Result<(), String> {
        match fault {
            Fault::Silence => self.stop_at(0, StreamEnd::Silent),
            Fault::SilenceMidText => {
                let middle = self.middle(FrameKind::Text)?;
                self.stop_at(middle, StreamEnd::Silent);
            }
            Fault::EndlessComments => {
                let comment = ": keep-alive\n\n".to_owned();
                self.stop_at(0, StreamEnd::Endless(comment, Duration::from_millis(5)));
            }
            Fault::EndlessText => {
                let middle = self.middle(FrameKind::Text)?;
                let text = self.frames[middle].text.repeat(100);
                self.stop_at(middle, StreamEnd::Endless(text, Duration::ZERO));
            }
            Fault::EndlessLine => {
                self.stop_at(0, StreamEnd::Endless("data: ".repeat(5000), Duration::ZERO));
            }
            Fault::CutMidText => self.cut(FrameKind::Text)?,
            Fault::CutInsideToolJson => self.cut(FrameKind::Arguments)?,
            Fault::ErrorInStream => {
                let middle =
                    self.middle(FrameKind::Text).or_else(|_| self.middle(FrameKind::Finish))?;
                self.stop_at(middle, StreamEnd::Clean);
                self.frames.push(error.clone());
            }
            Fault::MalformedJson => {
                let middle =
                    self.middle(FrameKind::Text).or_else(|_| self.middle(FrameKind::Finish))?;
                self.frames[middle].text = String::from("data: {\"type\":\"con\n\n");
            }
            Fault::EndWithoutFinish => {
                self.frames
                    .retain(|frame| !matches!(frame.mark, FrameKind::Finish | FrameKind::Done));
            }
            Fault::NoDone => self.frames.retain(|frame| frame.mark != FrameKind::Done),
            Fault::CommentLines => {
                let comments = ": keep-alive\n\n:\n\n: keep-alive\n\n".to_owned();
                self.frames.insert(0, Frame { text: comments, mark: FrameKind::Other });
            }
            _ => {}
        }
        Ok(())
    }

    fn stop_at(&mut self, index: usize, end: StreamEnd) {
        self.frames.truncate(index);
        self.end = end;
    }

    fn cut(&mut self, mark: FrameKind) -> Result<(), String> {
        let middle = self.middle(mark)?;
        let half = self.frames[middle].half();
        self.stop_at(middle, StreamEnd::Cut);
        self.frames.push(half);
        Ok(())
    }

    /// Returns the index of the middle event of the first run of events with this mark.
    fn middle(&self, mark: FrameKind) -> Result<usize, String> {
        let first = self.frames.iter().position(|frame| frame.mark == mark);
        let first = first.ok_or_else(|| format!("the fault needs a reply with {mark:?}"))?;
        let run = self.frames[first..].iter().take_while(|frame| frame.mark == mark).count();
        Ok(first + run / 2)
    }
}

/// Returns `text` in pieces of at most `size` characters, and in at least two if possible.
pub(super) fn pieces(text: &str, size: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = size.min(letters.len().div_ceil(2)).max(1);
    letters.chunks(size).map(|piece| piece.iter().collect()).collect()
}
