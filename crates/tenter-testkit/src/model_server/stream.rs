//! An event stream as a list of events, and what a fault makes of it.

use std::time::Duration;

use serde_json::Value;

use super::script::Fault;

/// What an event is to a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A piece of the answer's text.
    Text,
    /// A piece of a call's arguments.
    Arguments,
    /// It says that the answer is at its end.
    Finish,
    /// Chat's `[DONE]`.
    Done,
    /// Anything else.
    Other,
}

/// One event, as it is written.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) text: String,
    pub(super) mark: Mark,
}

impl Frame {
    /// An event without a name.
    pub(super) fn data(data: &Value, mark: Mark) -> Self {
        Self { text: format!("data: {data}\n\n"), mark }
    }

    /// An event that is named as its data's `type`.
    pub(super) fn typed(data: &Value, mark: Mark) -> Self {
        let name = data["type"].as_str().unwrap_or_default();
        Self { text: format!("event: {name}\ndata: {data}\n\n"), mark }
    }

    /// The first half of the event.
    fn half(&self) -> Self {
        let letters = self.text.chars().count() / 2;
        Self { text: self.text.chars().take(letters).collect(), mark: self.mark }
    }
}

/// How a stream ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Clean,
    /// The connection breaks.
    Cut,
    /// Nothing more comes, and the connection stays.
    Silent,
    /// It does not: this comes again and again.
    Endless(String, Duration),
}

/// A stream as it is served.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) frames: Vec<Frame>,
    pub(super) end: End,
}

impl Plan {
    /// The stream of a reply with these faults; `error` is the format's own error event.
    ///
    /// # Errors
    /// When a fault has nothing to happen to: the script's mistake.
    pub(super) fn new(frames: Vec<Frame>, faults: &[Fault], error: &Frame) -> Result<Self, String> {
        let mut plan = Self { frames, end: End::Clean };
        for fault in faults {
            plan.apply(fault, error)?;
        }
        Ok(plan)
    }

    fn apply(&mut self, fault: &Fault, error: &Frame) -> Result<(), String> {
        match fault {
            Fault::Silence => self.stop_at(0, End::Silent),
            Fault::SilenceMidText => {
                let middle = self.middle(Mark::Text)?;
                self.stop_at(middle, End::Silent);
            }
            Fault::EndlessComments => {
                let comment = ": keep-alive\n\n".to_owned();
                self.stop_at(0, End::Endless(comment, Duration::from_millis(5)));
            }
            Fault::EndlessText => {
                let middle = self.middle(Mark::Text)?;
                let text = self.frames[middle].text.repeat(100);
                self.stop_at(middle, End::Endless(text, Duration::ZERO));
            }
            Fault::EndlessLine => {
                self.stop_at(0, End::Endless("data: ".repeat(5000), Duration::ZERO));
            }
            Fault::CutMidText => self.cut(Mark::Text)?,
            Fault::CutInsideToolJson => self.cut(Mark::Arguments)?,
            Fault::ErrorInStream => {
                let middle = self.middle(Mark::Text).or_else(|_| self.middle(Mark::Finish))?;
                self.stop_at(middle, End::Clean);
                self.frames.push(error.clone());
            }
            Fault::MalformedJson => {
                let middle = self.middle(Mark::Text).or_else(|_| self.middle(Mark::Finish))?;
                self.frames[middle].text = String::from("data: {\"type\":\"con\n\n");
            }
            Fault::EndWithoutFinish => {
                self.frames.retain(|frame| !matches!(frame.mark, Mark::Finish | Mark::Done));
            }
            Fault::NoDone => self.frames.retain(|frame| frame.mark != Mark::Done),
            Fault::CommentLines => {
                let comments = ": keep-alive\n\n:\n\n: keep-alive\n\n".to_owned();
                self.frames.insert(0, Frame { text: comments, mark: Mark::Other });
            }
            _ => {}
        }
        Ok(())
    }

    fn stop_at(&mut self, index: usize, end: End) {
        self.frames.truncate(index);
        self.end = end;
    }

    fn cut(&mut self, mark: Mark) -> Result<(), String> {
        let middle = self.middle(mark)?;
        let half = self.frames[middle].half();
        self.stop_at(middle, End::Cut);
        self.frames.push(half);
        Ok(())
    }

    /// The index of the middle one of the first run of events with this mark: of the first call, where there are several.
    fn middle(&self, mark: Mark) -> Result<usize, String> {
        let first = self.frames.iter().position(|frame| frame.mark == mark);
        let first =
            first.ok_or_else(|| format!("the fault needs an answer with {mark:?} in it"))?;
        let run = self.frames[first..].iter().take_while(|frame| frame.mark == mark).count();
        Ok(first + run / 2)
    }
}

/// `text` in pieces of at most `size` letters; in two at least, where it has two letters.
pub(super) fn pieces(text: &str, size: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = size.min(letters.len().div_ceil(2)).max(1);
    letters.chunks(size).map(|piece| piece.iter().collect()).collect()
}
