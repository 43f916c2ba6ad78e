package suite

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/wire"
)

// FuzzStream: whatever a service sends, there is an answer or an error, the same in
// whatever pieces it arrives, and what was told meanwhile is what the answer says. IDs of
// calls are not compared: some are made up.
func FuzzStream(f *testing.F, seeds []string, read func(*wire.Reply, func(model.Delta)) (*model.Answer, error)) {
	f.Helper()
	for _, seed := range seeds {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	heard := func(r io.Reader, stream bool) (*model.Answer, string, error) {
		told := ""
		answer, err := read(&wire.Reply{Body: r, Stream: stream}, func(d model.Delta) { told += d.Text })
		if err != nil {
			return nil, told, err
		}
		for i := range answer.Message.Calls {
			answer.Message.Calls[i].ID = ""
		}
		return answer, told, nil
	}
	f.Fuzz(func(t *testing.T, in string, stream bool) {
		one, told, err := heard(strings.NewReader(in), stream)
		two, told2, err2 := heard(iotest.OneByteReader(strings.NewReader(in)), stream)
		if (err == nil) != (err2 == nil) || told != told2 || !reflect.DeepEqual(one, two) {
			t.Fatalf("in one piece %+v, %v; in many %+v, %v", one, err, two, err2)
		}
		if err == nil && one.Message.Said() != told {
			t.Fatalf("told %q, answered %q", told, one.Message.Said())
		}
	})
}
