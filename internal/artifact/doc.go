// Package artifact keeps what of a result is too long for whoever asked, so
// that it can be read page by page, and cuts the result to size.
//
// Wiring (internal/app) opens the [Store], puts the [Cutter] behind the other
// vetters of a crib and hands Store.Read to the toolbox that pages; nothing
// else imports this package. It imports the core.
//
// Its one invariant: an artifact is read by nobody but the caller whose result
// it was. The name of its file is made of its ID and of the caller, so there is
// no second place that could say otherwise.
package artifact
