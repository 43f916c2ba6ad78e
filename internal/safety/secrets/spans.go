package secrets

// Span is where something lies in a text, in the words of whoever shows it: each
// toolbox has a type of its own.
type Span interface{ ~struct{ From, To int } }

// Spans are findings in the words of a toolbox.
func Spans[S Span](found []Finding) []S {
	spans := make([]S, len(found))
	for i, f := range found {
		spans[i] = S(struct{ From, To int }{f.Start, f.End})
	}
	return spans
}

// Memory is Carried in the words of a toolbox. The zero value remembers nothing yet.
type Memory[S Span] struct{ values Carried }

// Add remembers what is hidden in a text.
func (m *Memory[S]) Add(text string, hidden []S) { m.values.Add(text, findings(hidden)) }

// Find finds what was remembered, besides what is hidden already.
func (m *Memory[S]) Find(text string, hidden []S) []S {
	return Spans[S](m.values.Find(text, findings(hidden)))
}

func findings[S Span](hidden []S) []Finding {
	out := make([]Finding, len(hidden))
	for i, h := range hidden {
		plain := struct{ From, To int }(h)
		out[i] = Finding{Start: plain.From, End: plain.To}
	}
	return out
}
