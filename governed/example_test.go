package governed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/governed"
)

type mail struct {
	To   string `json:"to" doc:"The address."`
	Text string `json:"text"`
}

type sent struct {
	To string `json:"to"`
}

func sendMail() toolcrib.Tool {
	return toolcrib.Define(
		toolcrib.Spec{Name: "send_mail", Description: "Sends a mail.", Effects: toolcrib.Writes},
		func(_ context.Context, _ *toolcrib.Env, in mail) (sent, error) { return sent{To: in.To}, nil })
}

// person says yes to everything that they are asked.
type person struct{}

func (person) Approve(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	fmt.Printf("asked: %s %s\n", q.Spec.Name, q.Input)
	return toolcrib.Answer{Decision: toolcrib.Allow, By: "ann"}, nil
}

// Example governs a tool of one's own: one call is approved, one refused by a
// rule, and both are in the journal.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "governed")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	crib, err := governed.Open(ctx, governed.Config{
		State:     filepath.Join(dir, "state"),
		Toolboxes: []toolcrib.Toolbox{toolcrib.NewBox("mail", sendMail())},
		Deny:      []string{"send_mail(to:*@rival.example)"},
		Approver:  person{},
	})
	if err != nil {
		panic(err)
	}
	for _, to := range []string{"bob@example.com", "eve@rival.example"} {
		input, err := json.Marshal(mail{To: to, Text: "hello"})
		if err != nil {
			panic(err)
		}
		_, err = crib.Call(ctx, toolcrib.Call{Tool: "send_mail", Input: input, Caller: toolcrib.Caller{Subject: "ann"}})
		fmt.Println(strings.TrimSpace(fmt.Sprintln(to, toolcrib.CodeOf(err))))
	}
	records, err := crib.Records(ctx, 10)
	for _, r := range records {
		fmt.Println(strings.TrimSpace(fmt.Sprintln(r.Tool, r.Outcome, r.ApprovedBy)))
	}
	fmt.Println(err, crib.Close())
	// Output:
	// asked: send_mail {"text":"hello","to":"bob@example.com"}
	// bob@example.com
	// eve@rival.example denied
	// send_mail denied
	// send_mail done ann
	// <nil> <nil>
}
