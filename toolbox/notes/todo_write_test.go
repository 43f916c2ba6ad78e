package notes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTodoWrite(t *testing.T) {
	s := newShelf()
	b := open(t, s)
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprintf("pending:%d", i)
	}
	for _, c := range []struct {
		in         fields
		want, fail string
	}{
		{in: todos("completed:a", "in_progress:b", "pending:c"), want: `{"completed":1,"total":3,"current":"b"}`},
		{in: todos("pending: padded "), want: `{"completed":0,"total":1}`},
		{in: todos("in_progress:a", "pending:b", "in_progress:c"), fail: "tasks 1 and 3 are both in_progress"},
		{in: todos("pending:a", "pending: a"), fail: "tasks 1 and 2 have the same content"},
		{in: todos("pending:  "), fail: "task 1 has no content"},
		{in: todos(many...), fail: "the list has 21 tasks"},
		{in: todos(many[:20]...), want: `{"completed":0,"total":20}`},
		{in: fields{"items": []fields{}}, want: `{"completed":0,"total":0}`},
	} {
		got, err := do(t, b, "one", "todo_write", c.in)
		if got != c.want || c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)) || c.fail == "" && err != nil {
			t.Errorf("%v: %s, %v", c.in, got, err)
		}
	}
	// What was refused has changed nothing, and another session has a list of its own.
	if _, err := do(t, b, "one", "todo_write", todos("pending:keep")); err != nil {
		t.Fatal(err)
	}
	if _, err := do(t, b, "one", "todo_write", todos("pending:x", "pending:x")); err == nil {
		t.Error("a double was taken")
	}
	if _, err := do(t, b, "two", "todo_write", todos("pending:other")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Todo{{Content: "keep", Status: Pending}}, s.all["ann/one"].Todos); diff != "" {
		t.Error(diff)
	}
}

func TestShown(t *testing.T) {
	got := Shown([]Todo{{Content: "a", Status: Completed}, {Content: "b\n- [x] forged", Status: InProgress, ActiveForm: "doing b"}, {Content: "c", Status: Pending}})
	if want := "- [x] a\n- [ ] **b - [x] forged** (doing b)\n- [ ] c\n"; got != want {
		t.Errorf("%q", got)
	}
}
