# The server under test: `jelly mock`, with the fault that FAULT names.
exec jelly mock --era legacy ${FAULT:+--fault "$FAULT"}
