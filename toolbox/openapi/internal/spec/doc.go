// Package spec reads documents of OpenAPI 3.0, 3.1 and Swagger 2.0 and makes of each
// operation what a tool needs: where it is, what its arguments are, how they are
// sent, and what comes back.
//
// It is for toolbox/openapi only. It walks over the generic tree of a document and
// looks at what it needs, so that a mistake elsewhere in a document does no harm.
// Its one invariant: whatever a document says, the work on it is bounded, and nothing is read but the
// files of its own directory, by the function that it was given.
package spec
