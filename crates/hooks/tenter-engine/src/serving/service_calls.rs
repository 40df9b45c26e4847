//! The requests of a hook while it decides (S8). Each request has a thread of its own, so that neither the hook's process nor the thread
//! that fires the event waits for a service.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use tenter_proc::Cancel;
use tenter_protocol::runtime::{
    ErrorObject, Id, RawJson, Request, Response, ServiceCall, ServiceError,
};

use super::caller::{HookRequest, OpenService, SharedCaller};
use super::shared::Shared;

/// Maximum number of requests of one process that are not answered.
const MAX_OPEN: usize = 16;

/// Answers a request of the hook, on another thread.
pub(super) fn start(shared: &Arc<Shared>, request: Request) {
    let Request { id, method, params } = request;
    let call = match ServiceCall::read(&method, params.as_ref()) {
        None => return respond(shared, id, Err(ErrorObject::method_not_found(&method))),
        Some(Err(error)) => return respond(shared, id, Err(error.into())),
        Some(Ok(call)) => call,
    };
    let cancel = Cancel::new();
    let (caller, has_request) = match open(shared, &id, call.request, &cancel) {
        Ok(window) => window,
        Err(error) => return respond(shared, id, Err(error.into())),
    };
    let request = HookRequest { method, params, call };
    let thread_parts = (Arc::clone(shared), id.clone());
    let serve = move || {
        let (shared, id) = thread_parts;
        let answer =
            catch_unwind(AssertUnwindSafe(|| caller.answer(&request, has_request, &cancel)));
        finish(
            &shared,
            id,
            answer.unwrap_or_else(|_| Err(failed("the service failed unexpectedly"))),
        );
    };
    if let Err(error) = thread::Builder::new().name("service".to_owned()).spawn(serve) {
        finish(shared, id, Err(failed(&format!("cannot start a thread: {error}"))));
    }
}

fn failed(why: &str) -> ErrorObject {
    ServiceError::Failed(why.to_owned()).into()
}

/// Opens a request that belongs to the event request `owner`, or to the only one. Returns the caller of that one, or of the last one
/// and `false` if none is open.
fn open(
    shared: &Shared,
    id: &Id,
    owner: Option<u64>,
    cancel: &Cancel,
) -> Result<(SharedCaller, bool), ServiceError> {
    let mut requests = shared.requests();
    if requests.services.len() >= MAX_OPEN {
        return Err(ServiceError::Limit(format!("{MAX_OPEN} requests are open")));
    }
    let current = requests.caller(owner).map(|(id, caller)| (Some(id), Arc::clone(caller)));
    let last = || requests.last_caller().filter(|_| owner.is_none()).map(|caller| (None, caller));
    let (request, caller) = current.or_else(last).ok_or(ServiceError::NoRequest)?;
    requests.services.push(OpenService { id: id.clone(), request, cancel: cancel.clone() });
    Ok((caller, request.is_some()))
}

/// Sends the answer, unless the request was cancelled: then it was answered with that.
fn finish(shared: &Shared, id: Id, answer: Result<RawJson, ErrorObject>) {
    let mut requests = shared.requests();
    let place = requests.services.iter().position(|open| open.id == id);
    if let Some(place) = place {
        requests.services.swap_remove(place);
        drop(requests);
        respond(shared, id, answer);
    }
}

/// Cancels what belongs to an event request that has ended.
pub(super) fn cancel(shared: &Shared, request: u64) {
    cancel_if(shared, |open| open.request == Some(request));
}

/// Cancels everything: the process has ended.
pub(super) fn cancel_all(shared: &Shared) {
    cancel_if(shared, |_| true);
}

fn cancel_if(shared: &Shared, is_over: impl Fn(&OpenService) -> bool) {
    let mut requests = shared.requests();
    if requests.services.is_empty() {
        return;
    }
    let over: Vec<OpenService> = requests.services.extract_if(.., |open| is_over(open)).collect();
    drop(requests);
    for OpenService { id, cancel, .. } in over {
        cancel.cancel();
        respond(shared, id, Err(ServiceError::Cancelled.into()));
    }
}

/// Sends a response. A process that does not read it is killed.
fn respond(shared: &Shared, id: Id, result: Result<RawJson, ErrorObject>) {
    if shared.send(&Response { id, result }.to_line()) == Err(tenter_proc::NotSent::Full) {
        shared.fail("does not read its stdin".to_owned());
    }
}
