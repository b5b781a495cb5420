//! Pages of lists.
//!
//! A list is sorted by a unique key (time and id, or position in the conversation), so rows of one instant neither repeat nor
//! go missing. To fill a page, read [`rows_to_read`] rows that lie strictly beyond the cursor's key; the cursor's row itself
//! need not exist any more.
use serde::Serialize;

/// The envelope of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page<T> {
    /// Always `list`.
    pub object: &'static str,
    /// The rows.
    pub data: Vec<T>,
    /// The first row's id.
    pub first_id: Option<String>,
    /// The last row's id, which is the next page's `after`.
    pub last_id: Option<String>,
    /// Whether another row exists.
    pub has_more: bool,
}

/// How many rows to ask the store for: one more than the page has.
pub fn rows_to_read(limit: u32) -> u32 {
    limit.saturating_add(1)
}

impl<T> Page<T> {
    /// A page of up to `limit` of `rows`, of which up to [`rows_to_read`] were read.
    pub fn new(mut rows: Vec<T>, limit: u32, id: impl Fn(&T) -> &str) -> Page<T> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Page {
            object: "list",
            first_id: rows.first().map(|row| id(row).to_owned()),
            last_id: rows.last().map(|row| id(row).to_owned()),
            data: rows,
            has_more,
        }
    }

    /// A list of what has no ids, whole.
    pub fn whole(rows: Vec<T>) -> Page<T> {
        Page {
            object: "list",
            data: rows,
            first_id: None,
            last_id: None,
            has_more: false,
        }
    }

    /// The same page with its rows in another form.
    pub fn try_map<U, E>(self, map: impl FnMut(T) -> Result<U, E>) -> Result<Page<U>, E> {
        Ok(Page {
            object: self.object,
            data: self.data.into_iter().map(map).collect::<Result<_, _>>()?,
            first_id: self.first_id,
            last_id: self.last_id,
            has_more: self.has_more,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e22_has_more_only_if_another_row_exists() {
        for (rows, limit, kept, has_more) in [
            (0, 1, 0, false),
            (1, 1, 1, false),
            (2, 1, 1, true),
            (101, 100, 100, true),
            (100, 100, 100, false),
        ] {
            let rows: Vec<String> = (0..rows).map(|n| format!("id{n}")).collect();
            let page = Page::new(rows.clone(), limit, |row| row);
            assert_eq!((page.data.len(), page.has_more), (kept, has_more));
            assert_eq!(page.first_id.as_ref(), rows.first().filter(|_| kept > 0));
            assert_eq!(
                page.last_id.as_ref(),
                kept.checked_sub(1).map(|last| &rows[last])
            );
        }
    }

    /// A thousand rows of one instant, with deletions and insertions between pages.
    #[test]
    fn e22_rows_of_one_instant_neither_repeat_nor_go_missing() {
        let mut rows: Vec<(u64, String)> = (0..1_000).map(|n| (7, format!("{n:04}"))).collect();
        let mut after = (0, String::new());
        let mut seen = Vec::new();
        loop {
            let read = rows
                .iter()
                .filter(|row| **row > after)
                .take(rows_to_read(20) as usize)
                .cloned()
                .collect();
            let page = Page::new(read, 20, |row: &(u64, String)| row.1.as_str());
            seen.extend(page.data.iter().map(|row| row.1.clone()));
            let Some(last) = page.data.last() else { break };
            after = last.clone();
            // The cursor's row goes, and one appears before it.
            rows.retain(|row| *row != after);
            rows.insert(0, (7, format!("{}!", &after.1[..3])));
            rows.sort();
            if !page.has_more {
                break;
            }
        }
        let old: Vec<String> = seen.into_iter().filter(|id| !id.ends_with('!')).collect();
        assert_eq!(
            old,
            (0..1_000).map(|n| format!("{n:04}")).collect::<Vec<_>>()
        );
    }

    #[test]
    fn an_empty_page_has_null_ids() {
        let page: Page<String> = Page::new(vec![], 20, |row| row);
        let json = serde_json::to_string(&page).unwrap_or_default();
        assert_eq!(
            json,
            r#"{"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false}"#
        );
    }
}
