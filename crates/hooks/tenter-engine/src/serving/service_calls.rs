//! The requests of a hook while it decides (S8). Each request has a thread of its own, so that neither the hook's process nor the thread
//! that fires the event waits for a service.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::thread;

use tenter_proc::Cancel;
use tenter_protocol::runtime::{
    ErrorObject, Id, RawJson, Request, Response, ServiceCall, ServiceError, ServiceRequest,
};

use super::caller::{EventCaller, OpenService};
use super::shared::Shared;

/// Maximum number of requests of one process that are not answered.
const MAX_OPEN: usize = 16;

/// Answers a request of the hook's, on another thread.
pub(super) fn start(shared: &Arc<Shared>, request: Request) {
    let Request { id, method, params } = request;
    let call = match ServiceCall::read(&method, params.as_ref()) {
        None => return respond(shared, id, Err(ErrorObject::method_not_found(&method))),
        Some(Err(error)) => return respond(shared, id, Err(error.into())),
        Some(Ok(call)) => call,
    };
    let cancel = Cancel::new();
    let opened = match open(shared, &id, call.request, &cancel) {
        Ok(opened) => opened,
        Err(error) => return respond(shared, id, Err(error.into())),
    };
    let thread_parts = (Arc::clone(shared), id.clone());
    let serve = move || {
        let (shared, id) = thread_parts;
        let answer =
            catch_unwind(AssertUnwindSafe(|| answer(&shared, &opened, &call.service, &cancel)));
        let failed = |_| Err(ServiceError::Failed("the service failed unexpectedly".to_owned()));
        finish(&shared, id, answer.unwrap_or_else(failed));
    };
    if let Err(error) = thread::Builder::new().name("service".to_owned()).spawn(serve) {
        finish(shared, id, Err(ServiceError::Failed(format!("cannot start a thread: {error}"))));
    }
}

/// The event that a request belongs to.
struct Opened {
    caller: Arc<EventCaller>,
    has_request: bool,
}

/// Opens a request that belongs to the event request `named`, or to the only one.
fn open(
    shared: &Shared,
    id: &Id,
    named: Option<u64>,
    cancel: &Cancel,
) -> Result<Opened, ServiceError> {
    let mut requests = shared.requests();
    if requests.services.len() >= MAX_OPEN {
        return Err(ServiceError::Limit(format!("{MAX_OPEN} requests are open")));
    }
    let current = requests.caller(named).map(|(id, caller)| (Some(id), Arc::clone(caller)));
    let last = || requests.last_caller().filter(|_| named.is_none()).map(|caller| (None, caller));
    let (request, caller) = current.or_else(last).ok_or(ServiceError::NoRequest)?;
    requests.services.push(OpenService { id: id.clone(), request, cancel: cancel.clone() });
    Ok(Opened { caller, has_request: request.is_some() })
}

fn answer(
    shared: &Shared,
    opened: &Opened,
    request: &ServiceRequest,
    cancel: &Cancel,
) -> Result<RawJson, ServiceError> {
    let provider =
        shared.provider.as_ref().and_then(Weak::upgrade).ok_or(ServiceError::Cancelled)?;
    let provide = || {
        let caller = (&*opened.caller, opened.has_request);
        provider.provide(&shared.hook, caller, request, cancel)
    };
    if !matches!(request, ServiceRequest::Ask(_)) {
        return provide();
    }
    let _question = shared.clock.begin();
    let _turn = shared.clock.turn();
    if cancel.is_cancelled() { Err(ServiceError::Cancelled) } else { provide() }
}

/// Sends the answer, unless the request was cancelled: then it was answered with that.
fn finish(shared: &Shared, id: Id, answer: Result<RawJson, ServiceError>) {
    let mut requests = shared.requests();
    let place = requests.services.iter().position(|open| open.id == id);
    if let Some(place) = place {
        requests.services.swap_remove(place);
        drop(requests);
        respond(shared, id, answer.map_err(ErrorObject::from));
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
