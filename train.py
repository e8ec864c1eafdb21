"""The names of `tf.train`: optimizers, schedules, checkpoints."""

from .compat.v1.absent import TRAIN
from .facade import facade

HOMES = {
    "graph.functions.io.files": "match_filenames_once",
    "schema.proto": (
        "BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List "
        "ClusterDef JobDef QueueRunnerDef SaverDef SequenceExample ServerDef"
    ),
    "training.optimizers.adaptive": (
        "AdadeltaOptimizer AdagradDAOptimizer AdagradOptimizer RMSPropOptimizer"
    ),
    "training.checkpoints.checkpoint_manager": "CheckpointManager checkpoints_iterator",
    "training.checkpoints.checkpoint_options": "CheckpointOptions",
    "training.checkpoints.checkpoints": (
        "NewCheckpointReader checkpoint_exists generate_checkpoint_state_proto "
        "get_checkpoint_mtimes get_checkpoint_state latest_checkpoint list_variables "
        "load_checkpoint load_variable remove_checkpoint update_checkpoint_state"
    ),
    "training.global_step": (
        "assert_global_step create_global_step get_global_step get_or_create_global_step "
        "global_step"
    ),
    "training.checkpoints.init_from_checkpoint": "init_from_checkpoint",
    "training.input_pipeline": (
        "batch batch_join input_producer limit_epochs maybe_batch maybe_batch_join "
        "maybe_shuffle_batch maybe_shuffle_batch_join range_input_producer shuffle_batch "
        "shuffle_batch_join slice_input_producer string_input_producer"
    ),
    "training.export.meta_graph": "export_meta_graph",
    "training.export.meta_graph_import": "import_meta_graph",
    "training.optimizers.moving_averages": "ExponentialMovingAverage",
    "training.checkpoints.object_checkpoint": "Checkpoint",
    "training.optimizers.optimizer": "Optimizer",
    "training.optimizers.descent": "AdamOptimizer GradientDescentOptimizer MomentumOptimizer",
    "training.optimizers.proximal": (
        "FtrlOptimizer ProximalAdagradOptimizer ProximalGradientDescentOptimizer"
    ),
    "training.optimizers.sync_replicas": "SyncReplicasOptimizer",
    "training.quantize_training": "do_quantize_training_on_graphdef",
    "training.checkpoints.saver": "Saver",
    "training.optimizers.schedules": (
        "cosine_decay cosine_decay_restarts exponential_decay inverse_time_decay "
        "linear_cosine_decay natural_exp_decay noisy_linear_cosine_decay piecewise_constant "
        "piecewise_constant_decay=piecewise_constant polynomial_decay"
    ),
    "training.sessions.cluster": "ClusterSpec replica_device_setter",
    "training.sessions.server": "Server",
    "training.sessions.coordinator": "Coordinator LooperThread",
    "training.event_files": "summary_iterator",
    "training.sessions.hook_steps": "SecondOrStepTimer",
    "training.sessions.hooks": (
        "FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook NanLossDuringTrainingError "
        "NanTensorHook ProfilerHook StepCounterHook StopAtStepHook"
    ),
    "training.sessions.monitored_session": (
        "MonitoredSession MonitoredTrainingSession SingularMonitoredSession"
    ),
    "training.sessions.queue_runner": "QueueRunner add_queue_runner start_queue_runners",
    "training.sessions.saver_hooks": "CheckpointSaverHook CheckpointSaverListener SummarySaverHook",
    "training.sessions.scaffold": "Scaffold",
    "training.sessions.session_creators": "ChiefSessionCreator SessionCreator WorkerSessionCreator",
    "training.sessions.session_manager": "SessionManager",
    "training.sessions.session_run_hook": (
        "SessionRunArgs SessionRunContext SessionRunHook SessionRunValues"
    ),
    "training.sessions.supervisor": "Supervisor basic_train_loop",
    "training.summary_writer": "SummaryWriter SummaryWriterCache=FileWriterCache",
    "training.checkpoints.warm_start": "VocabInfo warm_start",
    "training.export.write_graph": "write_graph",
}
MODULES = {
    "experimental": "compat.v1.train_experimental",
    "queue_runner": "training.sessions.queue_runner",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES, modules=MODULES, absent=TRAIN)
