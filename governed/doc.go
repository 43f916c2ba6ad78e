// Package governed opens a [toolcrib.Crib] that is fit for models: with rules
// and modes, a desk where people are asked, a sandbox for programs and a journal
// that cannot be changed unseen. It is what the toolcrib command is made of, for
// a Go program with tools of its own:
//
//	crib, err := governed.Open(ctx, governed.Config{
//		State:     "/var/lib/mailer/state",
//		Toolboxes: []toolcrib.Toolbox{toolcrib.NewBox("mail", send)},
//		Deny:      []string{"send_mail(to:*@example.com)"},
//	})
//	if err != nil {
//		return err
//	}
//	defer crib.Close()
//	result, err := crib.Call(ctx, toolcrib.Call{Tool: "send_mail", Input: input})
//
// Package mcpserver serves it to MCP clients, package ovos to voice assistants.
//
// Its one invariant: a zero field of [Config] is the safest. What is not named is
// not there, what is not granted cannot be touched, and what nobody allowed is
// asked about.
package governed
