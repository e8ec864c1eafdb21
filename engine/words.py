"""Where things stand in the memory that machine code and Python share, counted in 64-bit words."""

WORD = 8  # bytes

# A row of a plan's table.
ENTRY, RECORD, CHUNKS, NANOSECONDS = range(4)
ROW_WORDS = 4

# The head of a kernel's record: where it reports faults, and how many items it has.
FAULT, ITEMS, FIRST = range(3)

# The record of a jump: a row without chunks. Its nanoseconds are how often it jumped.
FLAG, TARGET = range(2, 4)
JUMP_WORDS = 4

# The record of a chain; then come the entry and the record of each member.
PIECES, MEMBERS, FIRST_MEMBER = range(1, 4)

# A cursor is row << CHUNK_BITS | chunk. A crew's claim has, instead of the row, a number that
# rises with each row offered and, instead of the chunk, how many are left, or NOTHING when no row
# is on offer.
CHUNK_BITS = 16
CHUNK_MASK = NOTHING = (1 << CHUNK_BITS) - 1

# What a kernel writes to report a fault; each chunk of a row has words of its own.
FAULT_WORDS = 4

# The order to run rows, which `walk` and `lead` are given.
TABLE, CURSOR, STOP, FAULTS, CLOCK, BUDGET, CREW = range(7)
RUN, SAVE_THREAD, RESTORE_THREAD, NEW_REFERENCE, TRUE, FALSE = range(7, 13)
ORDER_WORDS = 13

# The state of a crew. What changes with each chunk, with each row and with each run lies in cache
# lines of its own.
CLAIM, EPOCH, SLEEPERS, HALTED = range(4)
DONE = 8
OFFER_ENTRY, OFFER_RECORD, OFFER_CHUNKS, OFFER_ROW, OFFER_START, REST, FAILED = range(16, 23)
ORDER, CHUNK_FAULTS, RUN_CLOCK, RUN_END, RESULT, PATIENCE, PARKS = range(24, 31)
CREW_WORDS = 32
