// Package desk is where a person is asked: questions that are kept until they
// are answered, the first answer that wins, and what of it is remembered.
//
// It may be imported by the frontends that show questions (internal/serve),
// by the adapter that keeps them (internal/store) and by the wiring. Its one
// invariant: a call goes on only by an answer that a person gave to exactly
// what this call would do, and each answer is used as often as it was meant to.
//
// # The way of a question
//
// [Desk.Approve] first looks for a remembered [Grant] that covers the call, then
// for an answer that was given to the same question before and not used yet.
// If there is neither, the question is stored, and then shown on every [Screen]
// that sees it. Whoever answers first, on whichever screen of whichever process,
// wins: the answer is a change of the stored question from open to something
// else, made in a transaction that keeps everybody else out. A grant is saved
// in that same transaction, so that only the winner can save one.
//
// # What an answer is bound to
//
// The slot of a question is who asks for what: organisation, subject, agent, project, tool and
// normalised arguments. Its key is the slot and all that was shown besides: the
// tool's definition, the preview, the effects, the reasons, the text, and what
// the wiring adds by [Terms.Bind], such as the hash of a program. A grant looks
// at [Terms.Files] in its place: the scripts that a person can change. A call with
// the same slot and another key makes the older question void, answered or not,
// and is asked anew. Guards must therefore give reasons without counters or
// times: one that reads differently each time is asked about each time.
//
// The session is not part of it: a caller that comes back after a restart has
// another one, and the question becomes that session's. What Terms says is
// looked at once more when a person has answered, and if it changed while they
// thought it is asked again.
//
// # What is kept
//
// Arguments, previews and texts are kept and shown as [Config.RedactJSON] and
// [Config.RedactText] leave them; the binding is by hashes of what they really
// were. Two things are kept as a person typed them until the call has taken
// them, and wiped then: arguments put in place of others, and the message.
package desk
