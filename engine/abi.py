"""Where things stand in the memory that machine code and Python share, counted in 64-bit words."""

WORD = 8  # bytes

# An instruction of a plan's table.
ENTRY, RECORD, CHUNKS, NANOSECONDS = range(4)
INSTRUCTION_WORDS = 4

# The head of a kernel's record: where it reports faults, and how many items it has.
FAULT, ITEMS, FIRST = range(3)

# The record of a branch: an instruction without chunks. Its nanoseconds count how often it was
# taken.
FLAG, TARGET = range(2, 4)
BRANCH_WORDS = 4

# The record of a fusion; then come the entry and the record of each member.
BLOCKS, MEMBERS, FIRST_MEMBER = range(1, 4)

# A cursor is instruction << CHUNK_BITS | chunk.
CHUNK_BITS = 16
CHUNK_MASK = (1 << CHUNK_BITS) - 1

# What a kernel writes to report a fault; each chunk of an instruction has words of its own.
FAULT_WORDS = 4

# The run context, which `run_plan` and `run_threaded` are given.
TABLE, CURSOR, STOP, FAULTS, CLOCK, BUDGET, POOL = range(7)
RUN, SAVE_THREAD, RESTORE_THREAD, NEW_REFERENCE, TRUE, FALSE = range(7, 13)
RUNS = 13  # how many `begin` does before it comes back without
CONTEXT_WORDS = 14

NOT_BEGUN = 1 << 62
"""The cursor after `begin` has come back without a run."""
NO_END = 1 << 62
"""As many runs as there may be."""

# What a thread pool has on offer is chunks << NUMBER_BITS | number: how many chunks of an
# instruction are to be run, none between runs, and a number that rises with each offer.
NUMBER_BITS = 48
NUMBER_MASK = (1 << NUMBER_BITS) - 1

MAX_PER_THREAD = 8
"""Chunks of a thread in one offer; an instruction of more is offered in several."""

# What a thread has claimed: number of the offer << CLAIMED_BITS | FROM_FRONT * chunks it took
# itself + chunks that others took.
CLAIMED_BITS = 16
CLAIMED_MASK = (1 << CLAIMED_BITS) - 1
FROM_FRONT = 256

CLOCK_MONOTONIC = 1
"""The clock of run contexts that time instructions."""

# The state of a thread pool. What changes with each offer, with each chunk, with each run and when
# a thread falls asleep lies apart, and so does what each thread claims: two cache lines, as
# processors like to fetch them.
SLOT_WORDS = 16
OFFER, OFFER_ENTRY, OFFER_RECORD, OFFER_FIRST, OFFER_CHUNKS = range(5)
DONE, OFFER_INSTRUCTION, OFFER_START, FAILED, RESULT = range(SLOT_WORDS, SLOT_WORDS + 5)
BUSY, CONTEXT, CHUNK_FAULTS, RUN_CLOCK, RUN_END = range(2 * SLOT_WORDS, 2 * SLOT_WORDS + 5)
SLEEPERS, HALTED, THREADS, SPINS, NATIVE_SLEEP = range(3 * SLOT_WORDS, 3 * SLOT_WORDS + 5)
# The processors that who offers work may run on, a bit for each, and those of them that a thread is
# woken on.
PROCESSOR_WORDS = 16
PROCESSORS = 4 * SLOT_WORDS
OTHER_PROCESSORS = PROCESSORS + PROCESSOR_WORDS
SLOTS = OTHER_PROCESSORS + PROCESSOR_WORDS

# The slot of a thread in a pool. Who is WOKEN is not there yet.
CLAIM, INDEX, POOL_OF = range(3)
SLEEP, SYSTEM_ID = range(8, 10)
AWAKE, ASLEEP, WOKEN = range(3)
