/* A delegate in a shared library, for tests: float32 ADD and FULLY_CONNECTED, and the custom
   operator "Twice". Its options: claim=N takes only operator N; fail=create, choose, init, prepare
   or invoke; buffer=1 leaves results in memory of its own, to be copied from there; callback=N is
   the address of the function to call instead of its own Prepare.

   The structures are those of TFLite's C interface; flatlite's are held against LiteRT's headers by
   tests/support/delegate_layouts.py, and these against flatlite's by every test that uses this library. */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK, ERROR };
enum { FLOAT32 = 1, ARENA_RW = 2, ADD = 0, FULLY_CONNECTED = 9, CUSTOM = 32, RELU = 1 };

typedef struct { int size; int data[]; } IntArray;
typedef struct { float scale; int32_t zero_point; } QuantizationParams;
typedef struct { int type; void* params; } Quantization;
typedef struct Context Context;
typedef struct Delegate Delegate;

typedef struct {
  int type;
  void* data;
  IntArray* dims;
  QuantizationParams params;
  int allocation_type;
  size_t bytes;
  const void* allocation;
  const char* name;
  Delegate* delegate;
  int buffer_handle;
  bool data_is_stale, is_variable;
  Quantization quantization;
  void* sparsity;
  const IntArray* dims_signature;
} Tensor;

typedef struct {
  IntArray *inputs, *outputs, *intermediates, *temporaries;
  void *user_data, *builtin_data;
  const void* custom_initial_data;
  int custom_initial_data_size;
  Delegate* delegate;
  bool might_have_side_effect;
} Node;

typedef struct {
  void* (*init)(Context*, const char*, size_t);
  void (*free)(Context*, void*);
  int (*prepare)(Context*, Node*);
  int (*invoke)(Context*, Node*);
  const char* (*profiling_string)(const Context*, const Node*);
  int32_t builtin_code;
  const char* custom_name;
  int version;
  void* registration_external;
  void* async_kernel;
  uint64_t inplace_operator;
} Registration;

struct Delegate {
  void* data_;
  int (*Prepare)(Context*, Delegate*);
  int (*CopyFromBufferHandle)(Context*, Delegate*, int, Tensor*);
  int (*CopyToBufferHandle)(Context*, Delegate*, int, Tensor*);
  void (*FreeBufferHandle)(Context*, Delegate*, int*);
  int64_t flags;
  void* opaque_delegate_builder;
};

typedef struct {
  Delegate* delegate;
  IntArray *nodes_to_replace, *input_tensors, *output_tensors;
} DelegateParams;

struct Context {
  size_t tensors_size;
  int (*GetExecutionPlan)(Context*, IntArray**);
  Tensor* tensors;
  void* impl_;
  int (*ResizeTensor)(Context*, Tensor*, IntArray*);
  void (*ReportError)(Context*, const char*, ...);
  int (*AddTensors)(Context*, int, int*);
  int (*GetNodeAndRegistration)(Context*, int, Node**, Registration**);
  int (*ReplaceNodeSubsetsWithDelegateKernels)(Context*, Registration, const IntArray*, Delegate*);
  int recommended_num_threads;
  void* (*GetExternalContext)(Context*, int);
  void (*SetExternalContext)(Context*, int, void*);
  bool allow_fp32_relax_to_fp16;
  void* profiler;
  void *AllocatePersistentBuffer, *AllocateBufferForEval, *RequestScratchBufferInArena;
  void* GetScratchBuffer;
  int (*ResizeTensorExplicit)(Context*, Tensor*, int, const int*);
  int (*PreviewDelegatePartitioning)(Context*, const IntArray*, DelegateParams**, int*);
};

typedef struct { int activation; } FullyConnectedParams; /* AddParams begin so, too */

typedef struct {
  Delegate delegate;
  int claim; /* -1: whatever it can */
  char fail[16];
  bool buffer;
} State;

typedef struct {
  int kind, activation, a, b, bias, out;
} Step;

typedef struct {
  State* state;
  int n_steps, first_scratch, n_scratch;
  Step* steps;
  IntArray* outputs;
  int* scratch_of; /* tensor -> the tensor added for its values, or 0 */
  size_t n_tensors;
} Kernel;

static int n_alive = 0; /* delegates, and kernels of them */

int count_alive(void) { return n_alive; }

static IntArray* ints(int n) {
  IntArray* array = malloc(sizeof(IntArray) + n * sizeof(int));
  array->size = n;
  return array;
}

static bool fails(const State* state, const char* where) { return !strcmp(state->fail, where); }

static bool is_kernel(const State* state, Context* context, Node* node, Registration* kind) {
  if (state->claim >= 0 && kind->builtin_code != state->claim) return false;
  for (int i = 0; i < node->inputs->size; i++) {
    int tensor = node->inputs->data[i];
    if (tensor >= 0 && context->tensors[tensor].type != FLOAT32) return false;
  }
  if (kind->builtin_code == CUSTOM)
    return !strcmp(kind->custom_name, "Twice") && node->custom_initial_data_size == 2 &&
           !memcmp(node->custom_initial_data, "x2", 2);
  return kind->builtin_code == ADD || kind->builtin_code == FULLY_CONNECTED;
}

static void* init(Context* context, const char* buffer, size_t length) {
  const DelegateParams* params = (const DelegateParams*)buffer;
  State* state = (State*)params->delegate;
  if (fails(state, "init")) {
    context->ReportError(context, "no kernel of %zu bytes for %d of %s nodes (%.2f, %5.1e)", length,
                         params->nodes_to_replace->size, "these", 1.5, 1e10);
    return NULL;
  }
  Kernel* kernel = calloc(1, sizeof(Kernel));
  kernel->state = state;
  kernel->n_steps = params->nodes_to_replace->size;
  kernel->steps = calloc(kernel->n_steps, sizeof(Step));
  kernel->n_tensors = context->tensors_size;
  kernel->scratch_of = calloc(kernel->n_tensors, sizeof(int));
  kernel->outputs = params->output_tensors;
  for (int i = 0; i < kernel->n_steps; i++) {
    Node* node;
    Registration* kind;
    if (context->GetNodeAndRegistration(context, params->nodes_to_replace->data[i], &node, &kind))
      abort();
    const int* inputs = node->inputs->data;
    const FullyConnectedParams* data = node->builtin_data;
    kernel->steps[i] =
        (Step){kind->builtin_code, data ? data->activation : 0, inputs[0],
               node->inputs->size > 1 ? inputs[1] : inputs[0],
               node->inputs->size > 2 ? inputs[2] : -1, node->outputs->data[0]};
  }
  n_alive++;
  return kernel;
}

static void release(Context* context, void* data) {
  Kernel* kernel = data;
  if (!kernel) return;
  free(kernel->steps);
  free(kernel->scratch_of);
  free(kernel);
  n_alive--;
}

/* Results that only other steps of the kernel read have no memory: it adds tensors for them. */
static int prepare(Context* context, Node* node) {
  Kernel* kernel = node->user_data;
  if (!kernel) return ERROR;
  if (fails(kernel->state, "prepare")) {
    context->ReportError(context, "no memory for '%s' (%i%%)",
                         context->tensors[node->outputs->data[0]].name, -7);
    return ERROR;
  }
  IntArray* temporaries = ints(kernel->n_steps);
  int first;
  if (context->AddTensors(context, kernel->n_steps, &first)) return ERROR;
  for (int i = 0; i < kernel->n_steps; i++) {
    const Tensor* out = &context->tensors[kernel->steps[i].out];
    Tensor* scratch = &context->tensors[first + i];
    scratch->type = FLOAT32;
    scratch->allocation_type = ARENA_RW;
    IntArray* dims = ints(out->dims->size);
    memcpy(dims->data, out->dims->data, dims->size * sizeof(int));
    if (context->ResizeTensor(context, scratch, dims)) return ERROR;
    kernel->scratch_of[kernel->steps[i].out] = temporaries->data[i] = first + i;
  }
  free(node->temporaries);
  node->temporaries = temporaries;
  return OK;
}

static float* values(Context* context, Kernel* kernel, int tensor) {
  int scratch = kernel->scratch_of[tensor];
  return context->tensors[scratch ? scratch : tensor].data;
}

static int count(const Tensor* tensor) {
  int n = 1;
  for (int i = 0; i < tensor->dims->size; i++) n *= tensor->dims->data[i];
  return n;
}

static void compute(Context* context, Kernel* kernel, Step step) {
  const float *a = values(context, kernel, step.a), *b = values(context, kernel, step.b);
  float* out = values(context, kernel, step.out);
  int n = count(&context->tensors[step.out]), n_b = count(&context->tensors[step.b]);
  if (step.kind == FULLY_CONNECTED) {
    int units = context->tensors[step.b].dims->data[0], depth = n_b / units;
    for (int i = 0; i < n; i++) {
      out[i] = step.bias < 0 ? 0 : values(context, kernel, step.bias)[i % units];
      for (int j = 0; j < depth; j++) out[i] += a[i / units * depth + j] * b[i % units * depth + j];
    }
  } else {
    int n_a = count(&context->tensors[step.a]);
    for (int i = 0; i < n; i++) out[i] = a[i % n_a] + b[i % n_b];
  }
  for (int i = 0; i < n; i++)
    if (step.activation == RELU && out[i] < 0) out[i] = 0;
}

static int copy_from(Context* context, Delegate* delegate, int handle, Tensor* tensor) {
  memcpy(tensor->data, context->tensors[handle].data, tensor->bytes);
  return OK;
}

static int invoke(Context* context, Node* node) {
  Kernel* kernel = node->user_data;
  if (fails(kernel->state, "invoke")) {
    context->ReportError(context, "lost the device at %s: %x", "/dev/none", 255);
    return ERROR;
  }
  for (int i = 0; i < kernel->n_steps; i++) compute(context, kernel, kernel->steps[i]);
  for (int i = 0; i < node->outputs->size; i++) {
    int tensor = node->outputs->data[i];
    Tensor* out = &context->tensors[tensor];
    if (kernel->state->buffer) {
      out->buffer_handle = kernel->scratch_of[tensor];
      out->data_is_stale = true;
    } else {
      memcpy(out->data, values(context, kernel, tensor), out->bytes);
    }
  }
  return OK;
}

static int choose(Context* context, Delegate* delegate) {
  State* state = (State*)delegate;
  if (fails(state, "choose")) {
    context->ReportError(context, "The device is %s", "busy");
    return ERROR;
  }
  IntArray* plan;
  if (context->GetExecutionPlan(context, &plan)) return ERROR;
  IntArray* claimed = ints(plan->size);
  claimed->size = 0;
  for (int i = 0; i < plan->size; i++) {
    Node* node;
    Registration* kind;
    if (context->GetNodeAndRegistration(context, plan->data[i], &node, &kind)) return ERROR;
    if (is_kernel(state, context, node, kind)) claimed->data[claimed->size++] = plan->data[i];
  }
  if (fails(state, "node")) claimed->data[claimed->size++] = 1000;
  DelegateParams* partitions;
  int n;
  if (context->PreviewDelegatePartitioning(context, claimed, &partitions, &n)) return ERROR;
  int n_nodes = 0;
  for (int i = 0; i < n; i++) n_nodes += partitions[i].nodes_to_replace->size;
  if (n_nodes != claimed->size) abort();
  Registration kernel = {init, release, prepare, invoke, NULL, 0, "Adder", 1, NULL, NULL, 0};
  int status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, claimed, delegate);
  free(claimed);
  return status;
}

Delegate* tflite_plugin_create_delegate(const char* const* keys, const char* const* texts,
                                        size_t n, void (*report)(const char*)) {
  State* state = calloc(1, sizeof(State));
  state->claim = -1;
  for (size_t i = 0; i < n; i++) {
    if (!strcmp(keys[i], "claim")) {
      state->claim = atoi(texts[i]);
    } else if (!strcmp(keys[i], "fail")) {
      strncpy(state->fail, texts[i], sizeof(state->fail) - 1);
    } else if (!strcmp(keys[i], "buffer")) {
      state->buffer = true;
    } else if (!strcmp(keys[i], "callback")) {
      state->delegate.Prepare = (int (*)(Context*, Delegate*))strtoull(texts[i], NULL, 10);
    } else {
      report("unknown option ");
      report(keys[i]);
      free(state);
      return NULL;
    }
  }
  if (fails(state, "create")) {
    free(state);
    return NULL;
  }
  if (!state->delegate.Prepare) state->delegate.Prepare = choose;
  if (fails(state, "opaque")) state->delegate.Prepare = NULL;
  if (state->buffer) state->delegate.CopyFromBufferHandle = copy_from;
  n_alive++;
  return &state->delegate;
}

void tflite_plugin_destroy_delegate(Delegate* delegate) {
  if (!delegate) return;
  free(delegate);
  n_alive--;
}
