
6tensorflow/lite/toco/logging/toco_conversion_log.prototoco"É
TocoConversionLog
op_list (	=
built_in_ops (2'.toco.TocoConversionLog.BuiltInOpsEntry:

custom_ops (2&.toco.TocoConversionLog.CustomOpsEntry:

select_ops (2&.toco.TocoConversionLog.SelectOpsEntry
op_signatures (	
input_tensor_types (	
output_tensor_types (	
log_generation_ts (

model_size	 (
tf_lite_version
 (	

os_version (	

model_hash (	
toco_err_logs (	1
BuiltInOpsEntry
key (	
value (:80
CustomOpsEntry
key (	
value (:80
SelectOpsEntry
key (	
value (:8