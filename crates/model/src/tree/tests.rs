use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use super::node::is_sound;
use super::{OrdMap, OrdSet, Vector};
use crate::Dice;

/// A map and its model after a thousand random changes, with every older copy beside it.
fn changed(keys: u32, seed: u64) -> Vec<(OrdMap<u32, u32>, BTreeMap<u32, u32>)> {
    let mut dice = Dice::new(seed);
    let (mut map, mut model) = (OrdMap::new(), BTreeMap::new());
    let mut kept = vec![];
    for i in 0..1000 {
        let key = dice.below("key", keys);
        match dice.below("change", 5) {
            0..=2 => assert_eq!(map.insert(key, i), model.insert(key, i)),
            3 => assert_eq!(map.remove(&key), model.remove(&key)),
            _ => {
                *map.entry(key).or_default() += 1;
                *model.entry(key).or_default() += 1;
            }
        }
        assert!(is_sound(&map.0), "{map:?}");
        if i % 50 == 0 {
            kept.push((map.clone(), model.clone()));
        }
    }
    kept.push((map, model));
    kept
}

#[test]
fn a_map_is_what_a_btree_map_is_and_so_is_every_older_copy() {
    for (keys, seed) in [(1, 1), (7, 2), (100, 3), (5000, 4)] {
        for (map, model) in changed(keys, seed) {
            assert_eq!(map.len(), model.len());
            assert!(map.iter().eq(model.iter()), "{map:?} {model:?}");
            assert!(map.iter().rev().eq(model.iter().rev()));
            assert_eq!(map.get_min().map(|e| (&e.0, &e.1)), model.first_key_value());
            assert_eq!(map.get_max().map(|e| (&e.0, &e.1)), model.last_key_value());
            assert_eq!(format!("{map:?}"), format!("{model:?}"));
        }
    }
}

#[test]
fn what_two_maps_do_not_share_is_told() {
    for (keys, seed) in [(1, 1), (7, 2), (100, 3), (5000, 4)] {
        let all = changed(keys, seed);
        for pair in all.windows(2).chain([&[all[all.len() - 1].clone(), all[0].clone()][..]]) {
            let ((before, old), (after, new)) = (&pair[0], &pair[1]);
            let mut told = BTreeMap::new();
            after.differences(before, &mut |key, was, is| {
                assert_eq!((was, is), (old.get(key), new.get(key)));
                assert!(told.insert(*key, ()).is_none(), "{key} is told twice");
            });
            let differ = |key: &&u32| old.get(key) != new.get(key);
            assert!(old.keys().chain(new.keys()).filter(differ).all(|key| told.contains_key(key)));
        }
    }
}

#[test]
fn of_a_changed_copy_only_the_change_is_looked_at() {
    let before: OrdMap<u32, u32> = (0..5000).map(|i| (i, i)).collect();
    let mut after = before.clone();
    after.insert(4711, 0);
    after.remove(&17);
    let mut told = 0;
    after.differences(&before, &mut |_, _, _| told += 1);
    assert!((2..60).contains(&told), "{told}");
    before.differences(&before.clone(), &mut |_, _, _| panic!("they are the same"));
}

#[test]
fn ranges_have_every_kind_of_end() {
    let (map, model) = changed(100, 5).pop().unwrap();
    for from in 0..100 {
        for to in from + 1..102 {
            assert!(map.range(from..to).eq(model.range(from..to)));
            assert!(map.range(from..=to).rev().eq(model.range(from..=to).rev()));
            let open = (Bound::Excluded(from), Bound::Excluded(to));
            assert!(map.range(open).eq(model.range(open)));
        }
        assert!(map.range(..from).rev().eq(model.range(..from).rev()));
        assert!(map.range(from..).eq(model.range(from..)));
    }
}

#[test]
fn the_two_ends_of_a_walk_meet() {
    let map: OrdMap<u32, ()> = (0..99).map(|i| (i, ())).collect();
    let mut walk = map.keys();
    let mut seen = vec![];
    while let Some(first) = walk.next() {
        seen.push(*first);
        seen.extend(walk.next_back());
    }
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..99));
}

#[test]
fn a_copy_that_is_not_changed_is_the_same_map() {
    let map: OrdMap<u32, u32> = (0..50).map(|i| (i, i)).collect();
    let mut copy = map.clone();
    assert!(copy.ptr_eq(&map));
    // What is not there is not looked for by copying.
    assert_eq!((copy.remove(&99), copy.get_mut(&99)), (None, None));
    assert!(copy.ptr_eq(&map));
    copy.insert(99, 0);
    assert!(!copy.ptr_eq(&map) && copy != map && map.len() == 50);
    assert_eq!(copy.without(&99), map);
    assert_eq!(map.update(99, 0), copy);
}

#[test]
fn a_set_gives_its_smallest_first() {
    let mut set: OrdSet<&str> = ["b", "c", "a", "b"].into_iter().collect();
    assert_eq!(format!("{set:?}"), r#"{"a", "b", "c"}"#);
    assert_eq!((set.insert("c"), set.insert("d"), set.remove("b")), (Some("c"), None, Some("b")));
    assert_eq!((set.get_min(), set.get_max(), set.contains("b")), (Some(&"a"), Some(&"d"), false));
    assert!(set.range("b"..).eq([&"c", &"d"]));
    assert_eq!((set.remove_min(), set.remove_min(), set.len()), (Some("a"), Some("c"), 1));
}

#[test]
fn a_list_is_what_a_deque_is() {
    let mut dice = Dice::new(9);
    let (mut list, mut model): (Vector<u32>, VecDeque<u32>) = Default::default();
    for i in 0..2000 {
        match dice.below("change", 8) {
            0..=2 => {
                list.push_back(i);
                model.push_back(i);
            }
            3 => {
                list.push_front(i);
                model.push_front(i);
            }
            4 => assert_eq!(list.pop_front(), model.pop_front()),
            5 => assert_eq!(list.pop_back(), model.pop_back()),
            _ => {
                let at = dice.below("place", 200) as usize;
                if let Some(item) = list.get_mut(at) {
                    *item += 1;
                }
                if let Some(item) = model.get_mut(at) {
                    *item += 1;
                }
                assert_eq!(list.remove(at), model.remove(at));
            }
        }
        assert_eq!((list.front(), list.back(), list.get(5)), (model.front(), model.back(), model.get(5)));
    }
    assert!(list.len() > 100 && list.iter().eq(model.iter()) && list.iter().rev().eq(model.iter().rev()));
    assert!((0..list.len() + 2).all(|skip| list.skip(skip).eq(model.iter().skip(skip))));
    assert_eq!((list.index_of(&model[70]), list.contains(&u32::MAX)), (Some(70), false));
}
