//! Which sessions the catalog has said are whose: that never changes, so that it need not be asked again. A session that is
//! deleted says so itself.
use crate::edge::platform::Recent;
use std::cell::RefCell;

/// Sessions that an isolate remembers.
const MOST: usize = 4096;

thread_local! {
    /// Names of the objects: they are made of tenant and session, so that one tenant's are never another's.
    static KNOWN: RefCell<Recent<String, ()>> = RefCell::new(Recent::new(MOST));
}

/// Whether the object's session is there, as far as is known.
pub fn is_known(name: &str) -> bool {
    KNOWN.with_borrow(|known| known.get(name).is_some())
}

/// The catalog has the object's session.
pub fn remember(name: String) {
    KNOWN.with_borrow_mut(|known| known.put(name, ()));
}

/// The object has no session.
pub fn forget(name: &str) {
    KNOWN.with_borrow_mut(|known| known.remove(name));
}
