//! Holds the comparison to its promise: of seeded single changes to a recording nearly all are noticed.

use serde_json::{Value, json};

use super::clock::{age, moment, pull_time};

/// A small generator of numbers (SplitMix64): the same seed gives the same changes everywhere.
#[derive(Clone, Debug)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below the limit; zero if there is none.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        let drawn = self.next() % u64::try_from(limit.max(1)).unwrap_or(1);
        usize::try_from(drawn).unwrap_or_default()
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }
}

/// Makes one change, and says which; none if the recording has no place for the kind of change that was drawn.
pub(super) fn mutate(recording: &mut Value, dice: &mut Dice) -> Option<String> {
    match dice.below(10) {
        0..=2 => word(recording, dice),
        3 => exit(recording, dice),
        4 => event(recording, dice),
        5 => entry(recording, "events", dice),
        6 => entry(recording, "calls", dice),
        7 => entry(recording, "final", dice),
        8 => leaf(recording, "final", dice),
        _ => leaf(recording, "changes", dice),
    }
}

fn word(recording: &mut Value, dice: &mut Dice) -> Option<String> {
    let steps = recording["steps"].as_array_mut()?;
    let printed = |step: &Value| step["stdout"].as_str().is_some_and(|text| !text.trim().is_empty());
    let places: Vec<usize> = (0..steps.len()).filter(|i| printed(&steps[*i])).collect();
    let step = &mut steps[*dice.pick(&places)?];
    let text = step["stdout"].as_str()?;
    let words: Vec<&str> = text.split_whitespace().filter(|word| !varies(word)).collect();
    let word = *dice.pick(&words)?;
    let start = word.as_ptr() as usize - text.as_ptr() as usize;
    let other = another(word, dice);
    let changed = format!("{}{other}{}", &text[..start], &text[start + word.len()..]);
    let told = format!("step {} {}: {word:?} becomes {other:?}", step["step"], step["command"]);
    step["stdout"] = json!(changed);
    Some(told)
}

/// Words that the table lets vary within a tolerance: ages, moments, lengths of pulls.
fn varies(word: &str) -> bool {
    let word = word.trim_matches(['"', '(', ')', ',']);
    age(word).is_some()
        || moment(word).is_some()
        || pull_time(word).is_some_and(|(_, length)| length == word.len())
}

/// Another word: a number becomes the next, a letter in the middle another.
fn another(word: &str, dice: &mut Dice) -> String {
    if let Ok(number) = word.parse::<i64>() {
        return (number + 1).to_string();
    }
    let letters: Vec<(usize, char)> =
        word.char_indices().filter(|(_, c)| c.is_ascii_alphanumeric()).collect();
    match dice.pick(&letters) {
        Some(&(at, c)) => {
            let other = if c.is_ascii_digit() {
                char::from(b'0' + (c as u8 - b'0' + 1) % 10)
            } else if c == 'q' {
                'z'
            } else {
                'q'
            };
            format!("{}{other}{}", &word[..at], &word[at + 1..])
        }
        None => format!("{word}q"),
    }
}

fn exit(recording: &mut Value, dice: &mut Dice) -> Option<String> {
    let steps = recording["steps"].as_array_mut()?;
    let places: Vec<usize> = (0..steps.len()).filter(|i| steps[*i]["exit"].is_i64()).collect();
    let step = &mut steps[*dice.pick(&places)?];
    let code = i64::from(step["exit"] == 0);
    step["exit"] = json!(code);
    Some(format!("step {} {}: exit {code}", step["step"], step["command"]))
}

fn event(recording: &mut Value, dice: &mut Dice) -> Option<String> {
    let events = recording["events"].as_array_mut()?;
    let place = dice.below(events.len());
    let event = events.get_mut(place)?;
    let field = *dice.pick(&["type", "reason", "regarding", "from", "message"])?;
    let text = event[field].as_str()?;
    let words: Vec<&str> = text.split(' ').collect();
    let word = *dice.pick(&words)?;
    let changed = text.replacen(word, &another(word, dice), 1);
    let told = format!("event {event}: {field} becomes {changed:?}");
    event[field] = json!(changed);
    Some(told)
}

/// An entry of a list goes away, comes twice, or comes again about something else.
fn entry(recording: &mut Value, list: &str, dice: &mut Dice) -> Option<String> {
    let entries = recording[list].as_array_mut()?;
    let place = dice.below(entries.len());
    let old = entries.get(place)?.clone();
    let how = dice.below(2);
    if how == 0 {
        entries.remove(place);
        return Some(format!("{list} without {}", brief(&old)));
    }
    let mut new = old;
    let field = match list {
        "events" => *dice.pick(&["reason", "regarding", "message"])?,
        "calls" => *dice.pick(&["who", "verb", "resource", "code", "name"])?,
        _ => "metadata",
    };
    if list == "final" {
        new[field]["name"] = json!(another(new[field]["name"].as_str()?, dice));
    } else if new[field].is_i64() {
        new[field] = json!(new[field].as_i64()? + 1);
    } else if list == "calls" && field == "name" {
        // The same call once more.
    } else {
        new[field] = json!(another(new[field].as_str()?, dice));
    }
    let told = format!("{list} with one more: {}", brief(&new));
    entries.insert(place, new);
    Some(told)
}

fn brief(value: &Value) -> String {
    match (value.get("kind"), value.get("metadata")) {
        (Some(kind), Some(meta)) => format!("{kind} {}", meta["name"]),
        _ => value.to_string(),
    }
}

/// A reason, a status, a type, a number of replicas: what a reader of the object looks at.
const LEAVES: &[&str] = &[
    "reason",
    "status",
    "replicas",
    "readyReplicas",
    "availableReplicas",
    "updatedReplicas",
    "phase",
    "restartCount",
    "ready",
    "image",
    "message",
    "unavailableReplicas",
    "observedGeneration",
    "exitCode",
    "maxSurge",
];

fn leaf(recording: &mut Value, list: &str, dice: &mut Dice) -> Option<String> {
    let entries = recording[list].as_array()?;
    let mut places = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        let mut found = Vec::new();
        find(entry, String::new(), 40, &mut found);
        places.extend(found.into_iter().map(|pointer| format!("/{list}/{i}{pointer}")));
    }
    let place = dice.pick(&places)?.clone();
    let about = recording.pointer(&place.split('/').take(3).collect::<Vec<_>>().join("/")).map(|e| {
        format!("{} {}{}", e["kind"], e["name"].as_str().unwrap_or_default(), e["metadata"]["name"])
    });
    let value = recording.pointer_mut(&place)?;
    let old = value.clone();
    *value = match &old {
        Value::String(text) if text == "True" => json!("False"),
        Value::String(text) => json!(another(text, dice)),
        Value::Number(number) => json!(number.as_i64()? + 1),
        Value::Bool(yes) => json!(!yes),
        _ => return None,
    };
    Some(format!("{} {place}: {old} becomes {value}", about.unwrap_or_default()))
}

fn find(value: &Value, path: String, depth: usize, out: &mut Vec<String>) {
    match value {
        _ if depth == 0 => {}
        Value::Object(fields) => {
            for (name, field) in fields {
                let here = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
                match field {
                    Value::Object(_) | Value::Array(_) => find(field, here, depth - 1, out),
                    Value::Null => {}
                    _ if LEAVES.contains(&name.as_str()) => out.push(here),
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                find(item, format!("{path}/{i}"), depth - 1, out);
            }
        }
        _ => {}
    }
}
