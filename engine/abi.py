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

# A cursor is row << CHUNK_BITS | chunk.
CHUNK_BITS = 16
CHUNK_MASK = (1 << CHUNK_BITS) - 1

# What a kernel writes to report a fault; each chunk of a row has words of its own.
FAULT_WORDS = 4

# The order to run rows, which `walk` and `lead` are given.
TABLE, CURSOR, STOP, FAULTS, CLOCK, BUDGET, CREW = range(7)
RUN, SAVE_THREAD, RESTORE_THREAD, NEW_REFERENCE, TRUE, FALSE = range(7, 13)
ORDER_WORDS = 13

# What a crew has on offer is chunks << NUMBER_BITS | number: how many chunks of a row are to be
# run, none between runs, and a number that rises with each offer.
NUMBER_BITS = 48
NUMBER_MASK = (1 << NUMBER_BITS) - 1

EACH = 8
"""Chunks of a row that a thread has in one offer, at most; a row of more is offered by turns."""

# What a thread has claimed: number of the offer << TAKEN_BITS | FROM_FRONT * chunks it took itself
# + chunks that others took.
TAKEN_BITS = 16
TAKEN_MASK = (1 << TAKEN_BITS) - 1
FROM_FRONT = 256

EXACT = 1
"""CLOCK_MONOTONIC: the clock of orders to time rows."""

# The state of a crew. What changes with each offer, with each chunk, with each run and when a
# thread falls asleep lies apart, and so does what each thread claims: two cache lines, as
# processors like to fetch them.
APART = 16
OFFER, OFFER_ENTRY, OFFER_RECORD, OFFER_FIRST, OFFER_CHUNKS = range(5)
DONE, OFFER_ROW, OFFER_START, FAILED, RESULT = range(APART, APART + 5)
BUSY, ORDER, CHUNK_FAULTS, RUN_CLOCK, RUN_END = range(2 * APART, 2 * APART + 5)
SLEEPERS, HALTED, THREADS, PATIENCE, PARKS = range(3 * APART, 3 * APART + 5)
PLACES = 4 * APART

# The place of a thread in a crew.
CLAIM, OWN, CREW_OF = range(3)
