// Package voice is an agent that people speak to over the bus of a voice assistant,
// and asks them aloud for what calls from the bus need approved.
//
// It hears what a skill of the assistant would hear (a persona query, a fallback,
// or an utterance), runs the loop of an agent over the crib, and says its answer
// sentence by sentence ([Speech]). What has to be approved it asks by the
// assistant's own get-response messages, and gives the answer to the desk, which
// binds it to exactly that call.
//
// It is a frontend: the wiring imports it. It decides nothing about what is
// allowed, but narrows what a spoken yes may allow ([Spoken]). Its invariants: a
// question never has words of the arguments in it; nothing but a clear yes, of the
// same session, after the question and within its time, allows anything; and
// nothing of one session reaches another.
package voice
