/// Unix time in milliseconds. The runtime advances it only with I/O.
pub fn now() -> u64 {
    worker::Date::now().as_millis()
}
