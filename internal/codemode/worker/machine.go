package worker

import (
	_ "embed"
	"errors"
	"math"
	"strconv"
	"strings"

	"modernc.org/quickjs"

	"github.com/toolcrib/toolcrib/internal/codemode"
)

//go:embed prelude.js
var prelude string

// The flag of QuickJS for code in which await stands outside of functions: what
// comes of it is a promise of an object with the value.
const evalAsync = 1 << 7

// The lines before those of our own code, so that a stack tells them from the
// script's: more than a script can have.
const ownLines = codemode.MaxCode + 1000

// The file that QuickJS says code is in.
const scriptFile = "<eval>"

// How deep functions may call each other: the engine counts frames, and the stack has
// to hold as many of the largest.
const maxFrames = 4000

// What a script has more when its first part is over: a promise that is rejected for
// want of memory needs some to say so.
const reserve = 8 << 20

// The most lines that are sent to a host, which keeps fewer.
const mostLines = 2000

// machine is QuickJS with what scripts find in it.
type machine struct {
	host   *host
	vm     *quickjs.VM
	begin  quickjs.Value // takes the input, and gives what is called with the promise of the script
	lost   int           // lines of the log that were not sent
	memory int
	shift  int // how many lines of ours stand before the script's first
	ended  bool
	end    codemode.Message
}

func newMachine(h *host, l Limits) (*machine, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, err
	}
	vm.SetMemoryLimit(uintptr(l.Memory))
	vm.SetMaxStackSize(maxFrames)
	m := &machine{host: h, vm: vm, memory: l.Memory}
	names := []string{"$ask", "$start", "$wait", "$log", "$done", "$fail"}
	for i, f := range []quickjs.HostFunc{m.ask, m.start, m.wait, m.log, m.done, m.fail} {
		if err := vm.RegisterHostFunc(names[i], f); err != nil {
			return nil, err
		}
	}
	given := strings.Join(names, ", ")
	m.begin, err = vm.EvalValue(strings.Repeat("\n", ownLines)+"{ const f = "+prelude+"("+given+", "+strconv.Itoa(codemode.Parallel)+", "+strconv.Itoa(mostLines)+
		"); for (const n of '"+given+"'.split(', ')) delete globalThis[n]; f }", quickjs.EvalGlobal)
	return m, err
}

// run runs the script and tells the host how it ended.
func (m *machine) run(code string, input []byte) error {
	m.eval(code, string(input))
	m.end.ID = uint32(min(max(m.lost, 0), math.MaxInt32)) //nolint:gosec // bounded here
	return m.host.send(m.end, true)
}

// eval runs the script until it has ended, or nothing in it can go on.
func (m *machine) eval(code, input string) {
	finish, err := m.begin.CallValue(quickjs.UndefinedValue, input)
	if err != nil {
		m.broke(err)
		return
	}
	wrapped := false
	promise, err := m.vm.EvalValue(code, quickjs.EvalGlobal|evalAsync)
	if e, ok := errors.AsType[*quickjs.Error](err); ok && e.Name == "SyntaxError" && strings.Contains(e.Message, "return") {
		m.shift, wrapped = 1, true
		promise, err = m.vm.EvalValue("(async () => {\n"+code+"\n})()", quickjs.EvalGlobal)
	}
	m.vm.SetMemoryLimit(uintptr(m.memory + reserve))
	if err == nil {
		_, err = finish.Call(quickjs.UndefinedValue, promise, wrapped)
	}
	for err == nil && !m.ended {
		var n int
		if n, err = m.vm.ExecutePendingJobs(); n == 0 && err == nil {
			m.finish(codemode.Exception{Name: "Error", Message: "the script waits for a promise that nothing will resolve: there are no timers, and a call of a tool is done when it returns"})
		}
		if m.host.clock.over() {
			break
		}
	}
	if !m.ended {
		m.broke(err)
	}
}
