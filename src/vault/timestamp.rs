//! Instants as RFC 3339 texts and as seconds since 1970.

const DAY: i64 = 86_400;

/// Reads an instant. Fractions of a second are dropped; what was before 1970 becomes 1970.
///
/// ```
/// use cloister::vault::timestamp;
///
/// assert_eq!(timestamp::parse("2026-03-01T00:30:00.5+01:00"), Some(1_772_321_400));
/// assert_eq!(timestamp::write(1_772_321_400), "2026-02-28T23:30:00Z");
/// assert_eq!(timestamp::parse("2026-02-29T00:00:00Z"), None);
/// ```
pub fn parse(text: &str) -> Option<u64> {
    let (date, rest) = text.split_at_checked(10)?;
    let year = number(date.get(..4)?, 9_999)?;
    let month = number(date.get(5..7)?, 12)?;
    let day = number(date.get(8..)?, 31)?;
    let (clock, zone) = rest.split_at_checked(9)?;
    let separated = date.as_bytes()[4] == b'-'
        && date.as_bytes()[7] == b'-'
        && matches!(clock.as_bytes()[0], b'T' | b't')
        && clock.as_bytes()[3] == b':'
        && clock.as_bytes()[6] == b':';
    if !separated || month < 1 || day < 1 || day > days_of(year, month) {
        return None;
    }
    // 60 is a leap second, taken for the next one.
    let hour = number(clock.get(1..3)?, 23)?;
    let minute = number(clock.get(4..6)?, 59)?;
    let second = number(clock.get(7..9)?, 60)?;
    let offset = offset(without_fraction(zone)?)?;
    let seconds =
        days_before(year, month, day) * DAY + hour * 3_600 + minute * 60 + second - offset;
    Some(u64::try_from(seconds).unwrap_or(0))
}

/// Writes an instant, in UTC. What is beyond the year 9999 becomes its end.
pub fn write(seconds: u64) -> String {
    const END: i64 = 253_402_300_799;
    let seconds = i64::try_from(seconds).unwrap_or(END).min(END);
    let (mut days, clock) = (seconds / DAY, seconds % DAY);
    let mut year = 1970 + days / 366;
    while days_before(year + 1, 1, 1) <= days {
        year += 1;
    }
    days -= days_before(year, 1, 1);
    let mut month = 1;
    while days >= days_of(year, month) {
        days -= days_of(year, month);
        month += 1;
    }
    let (hour, minute, second) = (clock / 3_600, clock / 60 % 60, clock % 60);
    format!(
        "{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z",
        days + 1
    )
}

fn number(digits: &str, most: i64) -> Option<i64> {
    let all = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| all)?;
    (number <= most).then_some(number)
}

fn without_fraction(zone: &str) -> Option<&str> {
    let Some(fraction) = zone.strip_prefix('.') else {
        return Some(zone);
    };
    let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < fraction.len()).then_some(rest)
}

/// Seconds by which a zone is ahead.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let sign = match zone.as_bytes() {
        [b'+', _, _, b':', _, _] => 1,
        [b'-', _, _, b':', _, _] => -1,
        _ => return None,
    };
    let (hours, minutes) = (number(zone.get(1..3)?, 23)?, number(zone.get(4..6)?, 59)?);
    Some(sign * (hours * 3_600 + minutes * 60))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970 to this one.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    let years = before * 365 + before / 4 - before / 100 + before / 400 - 719_162;
    let months: i64 = (1..month).map(|month| days_of(year, month)).sum();
    years + months + day - 1
}

#[cfg(test)]
mod tests;
