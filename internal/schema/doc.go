// Package schema reads JSON texts strictly and judges them by JSON Schema: it is where the input of a tool is admitted
// and where its output is vetted.
//
// Three things live here. [Parse] turns a text into a [Doc], a flat tape of nodes over the text, and refuses whatever two
// readers could understand differently (duplicate keys, lone surrogates, invalid UTF-8). [Compile] turns the text of a
// JSON Schema into a [Schema], [Foreign] that of a tool whose calls somebody else checks. [Schema.Admit] fills in defaults, converts values where the caller asks for it, validates,
// and gives back the text that a tool may see, in canonical form.
//
// The validator walks the tape and allocates nothing when the value is valid, unless the schema asks what no other keyword
// has judged (unevaluatedProperties, unevaluatedItems). References are followed when the schema is compiled. That holds for
// dynamic ones too: where the way to a subschema decides what it refers to, it gets a rule for each way. So a rule asked about
// a value always gives the same answer, and what was found out can be remembered.
//
// Schemas and values come from strangers, so all work is bounded, see limits.go: a schema that unfolds without measure is
// not compiled, and a value that would take too long to check is refused as too complex. Reports are bounded, too, and quote
// no name or value at length.
//
// The root package imports this one, and packages that must walk or rewrite a document may do so too. It imports the
// ground floor's texts and the engine for patterns of JavaScript.
//
// The tests hold it against the official JSON Schema test suite: every case of drafts 4, 6, 7, 2019-09 and 2020-12, but for
// the few in a draft of their own ($vocabulary). A document that a case refers to is put into the schema.
package schema
