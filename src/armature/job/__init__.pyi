from armature.job.job import Job as Job
from armature.job.job_file import load_job as load_job
from armature.job.recorded import recorded_cost as recorded_cost
from armature.job.saved import SavedPlan as SavedPlan
from armature.job.saved import load_plan as load_plan
