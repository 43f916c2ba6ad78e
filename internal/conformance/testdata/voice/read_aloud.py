"""Has the genuine espeak-ng read texts, and tells how long that takes and what it spells.

Standard input has one JSON object per line, {"lang", "text"}; standard output gets one for
each, {"seconds", "phonemes", "spelled"}. A sign is spelled if leaving it out changes what is
said, and a word if it sounds like its letters one after the other.
"""
import ctypes
import json
import re
import sys

import espeakng_loader

SYNCHRONOUS = 2  # audio comes to a callback, before espeak_Synth returns
UTF8 = 1
PAUSES = ",.?!;:"
LONE = "Ia"  # letters that are words

lib = ctypes.CDLL(espeakng_loader.get_library_path())
rate = lib.espeak_Initialize(SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), 0)
if rate <= 0:
    sys.exit("espeak-ng does not start")

samples = 0


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
def heard(wave, count, events):
    global samples
    samples += count
    return 0


lib.espeak_SetSynthCallback(heard)
lib.espeak_TextToPhonemes.restype = ctypes.c_char_p


def seconds(text):
    """How long the text takes to be said."""
    global samples
    samples = 0
    data = text.encode() + b"\0"
    if lib.espeak_Synth(data, ctypes.c_size_t(len(data)), 0, 1, 0, UTF8, None, None) != 0:
        sys.exit("espeak-ng does not speak: " + text)
    lib.espeak_Synchronize()
    return samples / rate


def phonemes(text):
    """What is said, in IPA, without stress, pauses and the marks of another language."""
    data = ctypes.c_char_p(text.encode())
    said = []
    while data.value:
        part = lib.espeak_TextToPhonemes(ctypes.byref(data), UTF8, 2)
        said.append((part or b"").decode())
    said = re.sub(r"\([a-z-]+\)", "", " ".join(said))
    return re.sub(r"[ˈˌ_\s|‖-]", "", said)


def spelled(text):
    """The words and signs that are spelled out."""
    found = []
    for sign in sorted(set(re.findall(r"[^\w\s]|_", text))):
        apart = ", " if sign in PAUSES else " "
        if phonemes(text) != phonemes(text.replace(sign, apart)):
            found.append(sign)
    for word in re.findall(r"[^\W\d_]+", text):
        letters = "".join(phonemes(letter) for letter in word)
        if len(word) > 1 and phonemes(word) == letters or len(word) == 1 and word not in LONE:
            found.append(word)
    for word in re.findall(r"\w*\d\w*", text):
        # Numbers are read as such; digits one by one are an ID.
        if not word.isdigit() or len(word) > 4:
            found.append(word)
    return found


for line in sys.stdin:
    asked = json.loads(line)
    if lib.espeak_SetVoiceByName(asked["lang"].encode()) != 0:
        sys.exit("espeak-ng has no voice for " + asked["lang"])
    text = asked["text"]
    print(json.dumps({"seconds": seconds(text), "phonemes": phonemes(text), "spelled": spelled(text)}))
