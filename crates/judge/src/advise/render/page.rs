//! A page of topics, each with its text beside it.

use anstyle::Style;
use base::text::{HEADING, Options, clean, paint};

/// Where the text beside topics begins.
const INDENT: usize = 12;

pub(super) struct Page {
    pub out: String,
    options: Options,
}

impl Page {
    pub fn new(options: Options) -> Self {
        Self { out: String::new(), options }
    }

    pub fn gap(&mut self) {
        self.out.push('\n');
    }

    pub fn heading(&mut self, text: &str) {
        self.gap();
        self.out += &(paint(text, HEADING, self.options.color) + "\n");
    }

    /// A topic with its text beside it; nothing where there is no text.
    pub fn line(&mut self, topic: &str, text: &str, style: Style) {
        let indent = if topic.is_empty() && self.out.is_empty() { 0 } else { INDENT };
        let lead = format!("{topic:<indent$}");
        self.out += &self.options.behind(&lead, indent, &clean(text), style);
    }
}
