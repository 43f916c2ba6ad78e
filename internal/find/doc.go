// Package find ranks tools for a request in words, and estimates what a tool's
// definition costs in tokens.
//
// It is a leaf: it imports nothing of ours, and whoever shows tools to a model
// or a person may import it. It needs no network and no model. Words are
// weighed by BM25 over the fields of a tool, and by a lexicon of everyday
// concepts written for it, because people ask for "rain tomorrow" where a tool
// says "forecast". An [Embedder] may be given to blend in meaning beyond that.
//
// Its one invariant: an [Index] never changes. The same documents and the same
// query give the same hits in the same order, from any number of goroutines.
package find
