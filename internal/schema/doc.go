// Package schema reads JSON texts strictly and judges them by JSON Schema: it is where the input of a tool is admitted
// and where its output is vetted.
//
// Three things live here. [Parse] turns a text into a [Doc], a flat tape of nodes over the text, and refuses whatever two
// readers could understand differently (duplicate keys, lone surrogates, invalid UTF-8). [Compile] turns the text of a
// JSON Schema into a [Schema]. [Schema.Admit] fills in defaults, converts values where the caller asks for it, validates,
// and gives back the text that a tool may see, in canonical form.
//
// Nearly all schemas of tools use keywords that the package's own validator knows. It walks the tape and allocates nothing
// when the value is valid. The rest (unevaluatedProperties, dynamic references, anchors, identifiers inside a schema) goes
// to github.com/santhosh-tekuri/jsonschema, after the work that it would have has been reckoned.
//
// Schemas and values come from strangers, so all work is bounded, see limits.go: a schema that unfolds without measure is
// not compiled, and a value that would take too long to check is refused as too complex. Reports are bounded, too, and quote
// no name or value at length.
//
// The root package imports this one, and packages that must walk or rewrite a document may do so too. It imports nothing
// of ours.
//
// The invariant: whether a value is valid never depends on which of the two validators was asked. The tests hold both
// against the official JSON Schema test suite and against each other on generated cases.
package schema
