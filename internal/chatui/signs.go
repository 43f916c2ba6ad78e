package chatui

// signs are the marks before rows. Where the terminal shows nothing but ASCII there are
// plainer ones.
type signs struct {
	prompt, done, fail, run, ask, stop, dot, bar, more string
}

func signsFor(ascii bool) signs {
	if ascii {
		return signs{prompt: "> ", done: "+", fail: "x", run: "*", ask: "?", stop: "-", dot: " | ", bar: "|", more: "..."}
	}
	return signs{prompt: "› ", done: "✓", fail: "✗", run: "●", ask: "?", stop: "■", dot: " · ", bar: "│", more: "…"}
}
