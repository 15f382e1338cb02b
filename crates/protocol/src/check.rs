//! What a draft would do, before it is applied.

use serde::{Deserialize, Serialize};

use crate::{At, Doc, Rich};

/// The answer to [`crate::Command::Check`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The file's name.
    pub doc: String,
    /// The version that was asked about.
    pub version: u32,
    /// What kubectl or the API server would refuse (errors) or warn of, at most 100.
    pub problems: Vec<Problem>,
    /// What the teacher sees in it.
    pub notes: Vec<Note>,
    /// What applying it now would change, at most 50.
    pub changes: Vec<WouldChange>,
    /// How much it would change in all.
    pub counts: Counts,
    /// The file was applied with exactly this text, last at this time.
    pub applied: Option<At>,
}

/// How much applying a file would change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Objects that would be new.
    pub new: u32,
    /// Objects that would be changed.
    pub changed: u32,
    /// Objects that would stay as they are.
    pub same: u32,
    /// Objects that are there and were not compared: the file has too many.
    pub unread: u32,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Severity {
    /// Apply would be refused.
    Error,
    /// Apply would be accepted with a warning.
    Warning,
}

/// A place in a file, counted from 1, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// How many characters are marked; 0: to the end of the word.
    pub length: u32,
}

/// Something wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// How bad.
    pub severity: Severity,
    /// In the cluster's or kubectl's own words.
    pub message: String,
    /// What would mend it, in the teacher's voice ("Did you mean `replicas`?").
    pub remedy: Option<Edit>,
}

/// A change to a file that a button makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// "Did you mean `replicas`?"
    pub words: Rich,
    /// What is replaced: `length` characters from the place on, within one line.
    pub place: Place,
    /// By what.
    pub with: String,
}

/// A remark of the teacher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// About what.
    pub place: Place,
    /// "Not in the registry. Apply does not look there."
    pub words: Rich,
    /// What was probably meant.
    pub remedy: Option<Edit>,
}

/// The field under the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldDoc {
    /// `spec.template.spec.containers.image`.
    pub path: String,
    /// What it holds, as `kubectl explain` says it: `[]Container`, `integer`.
    pub holds: String,
    /// Kubernetes' schema requires it.
    pub required: bool,
    /// What the API server would put there if it were left out.
    pub default: Option<String>,
    /// Kubernetes' own description; empty where it is not here.
    pub text: String,
    /// The object's kind.
    pub kind: String,
    /// The object's version.
    pub api_version: String,
}

/// What applying would do to one field or object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WouldChange {
    /// `deployment/checkout`.
    pub object: String,
    /// `image`, `spec.replicas`; empty for a new object.
    pub field: String,
    /// The present value, `None` if there is none.
    pub before: Option<String>,
    /// The value in the file, `None` if it would be taken away.
    pub after: Option<String>,
    /// Who wrote the present value: `kubectl (scale)`, `kubectl-client-side-apply`.
    pub writer: Option<String>,
}

/// One entry of *Break it*.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakItem {
    /// "Wrong image tag".
    pub name: String,
    /// "line 17", "after 17", "new file".
    pub place: String,
    /// What goes.
    pub minus: Option<String>,
    /// What comes.
    pub plus: Option<String>,
    /// The file as it would be, or a new file.
    pub result: Doc,
    /// It is already in the file.
    pub used: bool,
}
