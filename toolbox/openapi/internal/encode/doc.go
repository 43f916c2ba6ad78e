// Package encode turns the arguments of a call into an HTTP request as the
// specification of OpenAPI says: every style of parameters, and every kind of body.
//
// It is for toolbox/openapi only. Its one invariant: a value stays where it belongs. No
// value ends a path segment, begins a query, adds a parameter or a header, or leads out of
// the path of its operation.
package encode
