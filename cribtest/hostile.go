package cribtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// attack is one input that no well-meaning caller sends.
type attack struct {
	name  string
	input []byte
	// refused: the input breaks JSON or the contract, so it must be Invalid.
	// Otherwise any answer will do that is not a breakdown.
	refused bool
}

// answerFault tells what is wrong with an answer, whatever was asked: a call
// ends with a result or with a refusal, never with a breakdown.
func answerFault(result *toolcrib.Result, err error) error {
	if err != nil {
		refusal, ok := toolcrib.AsError(err)
		switch {
		case !ok:
			return fmt.Errorf("answered with an error of no code: %w", err)
		case !slices.Contains(Codes(), refusal.Code):
			return fmt.Errorf("answered with the unknown code %q", refusal.Code)
		case refusal.Code == toolcrib.CodeInternal:
			return fmt.Errorf("broke down: %w", errors.Join(err, refusal.Err))
		case refusal.Code == toolcrib.CodeTimeout:
			return fmt.Errorf("did not answer in time, its work is not bounded: %w", err)
		case refusal.Message == "":
			return fmt.Errorf("refused with %s and no message", refusal.Code)
		}
		return nil
	}
	if result == nil {
		return errors.New("answered with neither a result nor an error")
	}
	if result.Failed && strings.TrimSpace(result.String()) == "" {
		return errors.New("failed without saying why: a model cannot mend its call")
	}
	return nil
}

func hostileFaults(ctx context.Context, e *exam) []error {
	var faults []error
	for _, t := range e.tools {
		for _, a := range attacks(t.Input) {
			for _, lenient := range []bool{false, true} {
				result, err := e.call(ctx, t.Name, a.input, lenient)
				fault := answerFault(result, err)
				if fault == nil && a.refused && !lenient && toolcrib.CodeOf(err) != toolcrib.CodeInvalid {
					fault = fmt.Errorf("want invalid, got %.200s", answerText(result, err))
				}
				if fault != nil {
					faults = append(faults, fmt.Errorf("tool %s, %s (lenient %v): %w", t.Name, a.name, lenient, fault))
				}
			}
		}
	}
	for _, r := range e.journal.Records() {
		if r.Outcome == "" {
			faults = append(faults, fmt.Errorf("call %s of %s was begun and never closed", r.ID, r.Tool))
		}
	}
	return faults
}

func cancelledFaults(ctx context.Context, e *exam) []error {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	var faults []error
	for _, t := range e.tools {
		_, err := e.call(gone, t.Name, sampleInput(t.Input), false)
		if toolcrib.CodeOf(err) != toolcrib.CodeCancelled || !errors.Is(err, context.Canceled) {
			faults = append(faults, fmt.Errorf("tool %s, called by one who has gone: got error %w, want cancelled", t.Name, err))
		}
	}
	for _, r := range e.journal.Records() {
		if r.Outcome == toolcrib.Outcome(toolcrib.CodeCancelled) && r.Native == "" {
			continue // refused before the tool was even looked for
		}
		faults = append(faults, fmt.Errorf("call %s of one who had gone went as far as %q", r.ID, r.Outcome))
	}
	return faults
}

// parallelFaults calls everything from 32 goroutines. A tool that says it is
// pure must give each the answer that it gives one alone.
func parallelFaults(ctx context.Context, e *exam) []error {
	const callers = 32
	var faults []error
	for _, t := range e.tools {
		input := sampleInput(t.Input)
		alone := answerText(e.call(ctx, t.Name, input, false))
		answers, broken := make([]string, callers), make([]error, callers)
		inParallel(callers, func(i int) {
			result, err := e.call(ctx, t.Name, input, false)
			answers[i], broken[i] = answerText(result, err), answerFault(result, err)
		})
		faults = append(faults, slices.DeleteFunc(broken, func(err error) bool { return err == nil })...)
		for _, a := range answers {
			if t.Effects == toolcrib.Pure && a != alone {
				faults = append(faults, fmt.Errorf("tool %s says it is pure but answers the same input differently: %.200s and %.200s", t.Name, alone, a))
				break
			}
		}
	}
	return faults
}

func answerText(result *toolcrib.Result, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(mustJSON(result))
}

// attacks makes the inputs for one tool: bad texts as a whole, and a valid
// input in which each parameter in turn holds each strange value.
func attacks(schema json.RawMessage) []attack {
	var list []attack
	for _, text := range badInputs() {
		list = append(list, attack{"input " + brief(text), []byte(text), true})
	}
	var sample map[string]json.RawMessage
	if json.Unmarshal(sampleInput(schema), &sample) != nil {
		return list
	}
	put := func(name, value string) []byte {
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(sample)) {
			if key != name {
				parts = append(parts, string(mustJSON(key))+":"+string(sample[key]))
			}
		}
		return []byte("{" + strings.Join(append(parts, string(mustJSON(name))+":"+value), ",") + "}")
	}
	list = append(list,
		attack{"an unknown argument", put("no_such_argument", "1"), true},
		attack{"10,000 unknown arguments", manyKeys(10_000), true},
		attack{"a parameter twice", twice(put("no_such_argument", "1")), true},
	)
	props := readSchema(schema).Properties
	for _, name := range slices.Sorted(maps.Keys(props)) {
		for _, value := range strangeValues() {
			list = append(list, attack{"parameter " + name + " = " + brief(value), put(name, value), wrongType(props[name], value)})
		}
		for _, value := range badValues() {
			list = append(list, attack{"parameter " + name + " = " + brief(value), put(name, value), true})
		}
	}
	for _, name := range readSchema(schema).Required {
		if rest := maps.Clone(sample); rest[name] != nil {
			delete(rest, name)
			list = append(list, attack{"without " + name, mustJSON(rest), true})
		}
	}
	return list
}

// wrongType reports whether a value is of a type the schema plainly excludes.
func wrongType(s schemaNode, value string) bool {
	if len(s.types()) != 1 || s.Type == nil {
		return false
	}
	if _, listed := s.Type.([]any); listed {
		return false // null may be allowed besides
	}
	want := s.types()[0]
	switch value[0] {
	case '"':
		return want != "string"
	case '[':
		return want != "array"
	case '{':
		return want != "object"
	case 't', 'f':
		return want != "boolean"
	case 'n':
		return true
	}
	return want != "number" && want != "integer"
}

func twice(object []byte) []byte {
	inner := string(object[1 : len(object)-1])
	return []byte("{" + inner + "," + inner + "}")
}

func manyKeys(n int) []byte {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = `"k` + strconv.Itoa(i) + `":` + strconv.Itoa(i)
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}

func brief(text string) string {
	if len(text) <= 40 {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:40], len(text))
}

// badInputs are no JSON objects, or no JSON at all.
func badInputs() []string {
	return []string{
		" ", "\x00", "{", "}", "[", `{"a"}`, `{"a":}`, `{a:1}`, `{'a':1}`, `{"a":1}{"b":2}`, `{} x`, `{"a":1,}`, `{/*c*/}`,
		"\xef\xbb\xbf{}", "{\"\xff\":1}", `{"\ud800":1}`, "nul", "NaN", "undefined", "null", "true", "1", `"text"`, "[]", "[{}]",
		strings.Repeat("[", 10_000), strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000),
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), `"` + strings.Repeat("a", 10<<20) + `"`, strings.Repeat("1", 100_000),
	}
}

// badValues are no JSON values: refused wherever they stand.
func badValues() []string {
	return []string{
		"NaN", "Infinity", "-Infinity", "undefined", "01", "+1", ".5", "1.", "1e", "0x10", "'a'", `"\x41"`, `"\ud800"`, `"\udc00\ud800"`,
		"\"\xff\"", "\"\xed\xa0\x80\"", "\"line\nbreak\"", `"open`, `[1,]`, `{"a":1,}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, "tru", "",
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	}
}

// strangeValues are JSON, and more than many a tool thought of.
func strangeValues() []string {
	list := []string{
		"null", "true", "false", "0", "-0", "1", "-1", "0.1", "1.0", "1e308", "-1e308", "5e-324", "1e400", "-1e400", "1e-400", "1E+2",
		"9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1180591620717411303424",
		strings.Repeat("9", 5_000), "0." + strings.Repeat("3", 5_000),
		"[]", "[null]", "[[[[[[]]]]]]", strings.Repeat("[", 100) + strings.Repeat("]", 100), `["a","a"]`, "[1,1]", `[1,"a",null,{}]`,
		"[" + strings.Repeat("1,", 20_000) + "1]", "[" + strings.Repeat(`"a",`, 20_000) + `"a"]`, "[1e308,1e308,-1e308]",
		"{}", `{"":1}`, `{"__proto__":{"x":1}}`, `{"a":{"b":{"c":[]}}}`,
	}
	for _, text := range []string{
		"", " ", "a", "\x00", "a\x00b", "\ufeff", "\u202egnp.exe", "e\u0301", "\U0001F98A", "\uffff", "\n", "\\", "\"",
		"NaN", "nan", "Infinity", "-1", "3", "3.0", "yes", "true", "null", "1e999999999", "0x1F", "١٢٣", "%s%d%n", "${HOME}", "$(id)", "`id`", "; ls",
		"../../../../etc/passwd", "/etc/passwd", `C:\Windows\win.ini`, `\\host\share`, "file:///etc/passwd", "http://169.254.169.254/", "' OR 1=1 --",
		"<script>alert(1)</script>", "{{.}}", "9**9**9**9", "1/0", "0**-1", "x=x", "((((((((((((((((", "__import__('os')",
		strings.Repeat("(", 20_000), strings.Repeat("(", 20_000) + "1" + strings.Repeat(")", 20_000), strings.Repeat("-", 20_000) + "1",
		strings.Repeat("1+", 20_000) + "1", strings.Repeat("9", 50_000), "1e" + strings.Repeat("9", 50), strings.Repeat("a", 1<<17), strings.Repeat("é", 1<<15),
		strings.Repeat("2**", 2_000) + "2", strings.Repeat("x", 5_000) + "=0", "factorial(100000000)", strings.Repeat("a/", 50_000),
	} {
		list = append(list, string(mustJSON(text)))
	}
	return list
}
