// Package host is the OpenVoiceOS frontend: on a message bus it is a host
// of toolboxes like the Python ones, and turns each call there into a Call. It
// decides nothing: what a client of the bus sees and may do is the crib's word
// alone.
//
// Only internal/app and internal/cli import it. Its one invariant: a request is
// carried out at most once and answered at most once, in a frame that every
// client of the field can read.
//
// # What it answers
//
//	ovos.persona.tools.discover        each toolbox, one answer each, read anew first
//	ovos.persona.tools.<id>.call       one tool of one toolbox
//	ovos.persona.tools.call            the same, with the id in data.toolbox_id
//	ovos.tools.list, .get              contracts, unless another service does; see [Service]
//	ovos.tools.invoke                  one tool of any toolbox
//	ovos.tools.reload                  everything read anew
//	toolcrib.approval.response         a person's answer; see [Approvals]
//
// Toolboxes that are not here are met with silence: another host may have them. So
// are those that another host has as well, and ovos.tools.* beside another service:
// see [Config.Around].
// Shapes and texts are those of the Python hosts. A key "detail" says besides
// what they keep to themselves, and where they do not answer at all (a list as
// a name) this host does.
//
// # Who calls
//
// A bus does not know who its clients are: every one of them can send every
// message, and reads every answer. All of them are therefore one caller, with
// one subject that the configuration gives; the session that a message names
// tells conversations apart and is believed in nothing else.
//
// # Calls that come twice
//
// A client that has to repeat a request sends the frame again with the same
// [bus.CorrelationKey], as it was. The call's ID is made of that key and
// of what is called, so that the repetition is answered from the journal. Other
// keys of the context are echoed and nothing is read from them: one of them
// that stays the same for a whole conversation would turn a second call into a
// repetition of the first.
package host
