package dialect

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/spoken"
)

// Where the contracts of OpenVoiceOS have a place for what went wrong:
//
//	read_file                            content
//	write_file                           message, with success false
//	run_command                          stderr, with returncode -1 and success false
//	web_search                           title and snippet of the one result
//	evaluate_expression, unit_convert,
//	statistics_summary, solve_equation   error
//
// The other tools have none: it is the error of the answer.

// OVOSPlaced is the answer of a tool in which a sentence stands where its contract has
// a place for it; nil: it has none. The input is the caller's, of which only a part
// may be there.
func OVOSPlaced(tool toolcrib.Entry, input json.RawMessage, say func(spoken.Sentence) string, s spoken.Sentence) json.RawMessage {
	var in struct {
		Path       any `json:"path"`
		Query      any `json:"query"`
		Expression any `json:"expression"`
		Equation   any `json:"equation"`
		FromUnit   any `json:"from_unit"`
		ToUnit     any `json:"to_unit"`
	}
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	text := func(v any) string {
		given, _ := v.(string)
		return given
	}
	said := say(s)
	switch tool.Box + "/" + tool.Name {
	case "files/read_file":
		return mustJSON(ovosReadAnswer{said, text(in.Path)})
	case "files/write_file":
		return mustJSON(ovosWriteAnswer{false, text(in.Path), said})
	case "shell/run_command":
		return notRun(said).Value
	case "web/web_search":
		return mustJSON(webResults{[]webResult{{Title: say(spoken.Sentence{Key: spoken.SearchFailed}), Snippet: said}}, text(in.Query)})
	case "math/evaluate_expression":
		return mustJSON(ordered{{"result", nil}, {"expression", text(in.Expression)}, {"error", said}})
	case "math/unit_convert":
		return mustJSON(ordered{{"result", nil}, {"from_unit", text(in.FromUnit)}, {"to_unit", text(in.ToUnit)}, {"category", "unknown"}, {"error", said}})
	case "math/statistics_summary":
		return mustJSON(ordered{{"count", 0}, {"mean", 0}, {"median", 0}, {"stdev", nil}, {"minimum", 0}, {"maximum", 0}, {"total", 0}, {"error", said}})
	case "math/solve_equation":
		return mustJSON(ordered{{"solutions", []float64{}}, {"equation", text(in.Equation)}, {"method", "numeric"}, {"error", said}})
	}
	return nil
}

// OVOSFailure is what a person is told of an answer in which a tool says, in the
// words of the original, that it did not do what it was asked for.
func OVOSFailure(tool toolcrib.Entry, answer json.RawMessage) (s spoken.Sentence, failed bool) {
	switch tool.Box + "/" + tool.Name {
	case "files/read_file":
		a, err := decoded[ovosReadAnswer](answer)
		if err != nil {
			return s, false
		}
		return readFailure(a)
	case "files/write_file":
		a, err := decoded[ovosWriteAnswer](answer)
		if err != nil || a.Success {
			return s, false
		}
		return spoken.Sentence{Key: fileFailure(a.Message, spoken.WriteFailed)}, true
	case "shell/run_command":
		a, err := decoded[ovosRunAnswer](answer)
		if err != nil || a.Success || a.Returncode != -1 || a.Stdout != "" {
			return s, false
		}
		return runFailure(a.Stderr)
	case "web/web_search":
		a, err := decoded[webResults](answer)
		if err != nil || len(a.Results) != 1 || a.Results[0].Title != searchErrorTitle || a.Results[0].URL != "" {
			return s, false
		}
		return spoken.Sentence{Key: spoken.SearchFailed}, true
	}
	if tool.Box == "math" {
		var a struct {
			Error *string `json:"error"`
		}
		if json.Unmarshal(answer, &a) == nil && a.Error != nil {
			return spoken.Sentence{Key: spoken.NotComputed}, true
		}
	}
	return s, false
}

// readFailure tells a failure from a file that begins like one: it is a single line
// about the path that was read.
func readFailure(a ovosReadAnswer) (s spoken.Sentence, failed bool) {
	if strings.Contains(a.Content, "\n") || len(a.Content) > 2*maxPath {
		return s, false
	}
	switch {
	case strings.HasPrefix(a.Content, "Access denied: path '"+a.Path+"' is "):
	case !strings.HasPrefix(a.Content, "Error reading file: "):
		return s, false
	}
	return spoken.Sentence{Key: fileFailure(a.Content, spoken.ReadFailed)}, true
}

// fileFailure is the sentence for what the tools of files say.
func fileFailure(text string, otherwise spoken.Key) spoken.Key {
	for _, known := range []struct {
		text string
		key  spoken.Key
	}{
		{"Access denied: path '", spoken.Outside}, {"Write access is disabled ", spoken.ReadOnly}, {"[Errno 2]", spoken.NoSuchFile}, {"[Errno 13]", spoken.NotPermitted},
		{"[Errno 20]", spoken.NoSuchFile}, {"[Errno 21]", spoken.IsFolder}, {"[Errno 28]", spoken.DiskFull}, {"[Errno 36]", spoken.NameTooLong},
		{"'utf-8' codec", spoken.NotText}, {"it holds a secret", spoken.Secret}, {"has changed", spoken.FileChanged},
	} {
		at := strings.Index(text, known.text)
		if at < 0 || at > len("Error reading file: ") { // further on it is a part of a name
			continue
		}
		if known.key == spoken.Outside && strings.HasSuffix(text, "' is protected.") {
			return spoken.Protected
		}
		return known.key
	}
	return otherwise
}

// runFailure is the sentence for what the shell says of a command that did not run,
// or not to its end.
func runFailure(text string) (s spoken.Sentence, failed bool) {
	switch {
	case text == shellDisabled:
		return spoken.Sentence{Key: spoken.ShellOff}, true
	case strings.HasPrefix(text, "Command not permitted by allowed_commands policy: "):
		return spoken.Sentence{Key: spoken.NotListed}, true
	case strings.HasPrefix(text, "Command timed out after "):
		if seconds := atoi(text[len("Command timed out after "):]); seconds > 0 {
			return spoken.Sentence{Key: spoken.CommandTimedOut, Number: seconds}, true
		}
		return spoken.Sentence{Key: spoken.TimedOut}, true
	case strings.HasPrefix(text, executing("[Errno 2]")), strings.HasPrefix(text, executing("[Errno 20]")):
		return spoken.Sentence{Key: spoken.NoSuchFolder}, true
	case strings.HasPrefix(text, executing("")):
		return spoken.Sentence{Key: spoken.CommandFailed}, true
	}
	return s, false
}

// atoi reads the number that a text begins with; 0 if it is none that one would say.
func atoi(text string) int {
	number, _, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(number)
	if err != nil || n > 9999 {
		return 0
	}
	return n
}
