// Package find ranks tools for a request in words, and estimates what a tool's
// definition costs in tokens.
//
// It is a leaf: it imports nothing of ours, and whoever shows tools to a model
// or a person may import it. It needs no network and no model. Words are
// weighed by BM25 over the fields of a tool, and by a lexicon of everyday
// concepts written for it, because people ask for "rain tomorrow" where a tool
// says "forecast". The lexicon counts less where the words themselves decide.
// Several needs in one query are searched one by one, the name of a server finds
// its tools, a slip in a word is forgiven, and everyday words of Spanish, German,
// French and Chinese are translated. A [Memory] has those documents ahead that
// queries like this one led to. An [Embedder] may be given to blend in
// meaning beyond that.
//
// Its one invariant: an [Index] never changes. The same documents and the same
// query give the same hits in the same order, from any number of goroutines.
package find
