# One plugin: its name, kind-name.la, and its sources; libraries beyond libtutti in its _LIBADD.
