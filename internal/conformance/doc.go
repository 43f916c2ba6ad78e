// Package conformance holds the tests that judge the program by what others
// wrote: the protocol's official conformance suite, the SDK's server that has
// everything, real servers and a real client from npm, toolboxes and tools of
// Python libraries from PyPI, the OpenAPI documents of public APIs. It has no code of its own besides; nobody imports
// it, and it may import anything, since it stands on top.
//
// The gateway under test is this test binary under the name toolcrib, so that
// the race detector watches it too. What the peers are is a table in
// peers_test.go and the lists in testdata/opm and testdata/openapi; they are installed
// once into the user's cache, by npm and by pip. The tests
// that need them are called TestGenuine…: "make genuine" runs them, and "make
// test" does without. Without npm, or without Python, a plain "go test" leaves
// them out.
//
// Its one invariant: every scenario of the suite is judged, also those that do
// not count for the score. What does not pass stands in baseline.yml with its
// reason, and what stands there must not pass.
package conformance
