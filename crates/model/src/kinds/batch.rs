//! Job and CronJob: pods that end.

use crate::{LabelSelector, ObjectMeta, ObjectReference, PodTemplateSpec, Time, go::api, whole::whole};

api! {
    /// A job: so many pods have to succeed.
    pub struct Job {
        always { metadata: ObjectMeta, spec: JobSpec, status: JobStatus }
    }
    /// See [`Job`].
    pub struct JobSpec {
        always { template: PodTemplateSpec }
        maybe {
            parallelism: Option<i32>,
            completions: Option<i32>,
            active_deadline_seconds: Option<i64>,
            pod_failure_policy: Option<PodFailurePolicy>,
            success_policy: Option<SuccessPolicy>,
            backoff_limit: Option<i32>,
            backoff_limit_per_index: Option<i32>,
            max_failed_indexes: Option<i32>,
            selector: Option<LabelSelector>,
            manual_selector: Option<bool>,
            ttl_seconds_after_finished: Option<i32>,
            completion_mode: Option<String>,
            suspend: Option<bool>,
            pod_replacement_policy: Option<String>,
            managed_by: Option<String>,
        }
    }
    /// What a failed pod means, by its exit codes and conditions; the first rule that fits counts.
    pub struct PodFailurePolicy {
        always { rules: Vec<PodFailurePolicyRule> }
    }
    /// See [`PodFailurePolicy`].
    pub struct PodFailurePolicyRule {
        always { action: String }
        maybe {
            on_exit_codes: Option<OnExitCodes>,
            on_pod_conditions: Vec<OnPodCondition>,
        }
    }
    /// Fits if a container ended with (or with none of) these codes.
    pub struct OnExitCodes {
        always { operator: String, values: Vec<i32> }
        maybe { container_name: Option<String> }
    }
    /// Fits if the pod has this condition.
    pub struct OnPodCondition {
        always { r#type: String }
        maybe { status: String }
    }
    /// When the job has succeeded although not every index has.
    pub struct SuccessPolicy {
        always { rules: Vec<SuccessPolicyRule> }
    }
    /// See [`SuccessPolicy`].
    pub struct SuccessPolicyRule {
        maybe { succeeded_indexes: Option<String>, succeeded_count: Option<i32> }
    }
    /// See [`Job`].
    pub struct JobStatus {
        maybe {
            conditions: Vec<JobCondition>,
            start_time: Option<Time>,
            completion_time: Option<Time>,
            active: i32,
            succeeded: i32,
            failed: i32,
            terminating: Option<i32>,
            completed_indexes: String,
            failed_indexes: Option<String>,
            uncounted_terminated_pods: Option<UncountedTerminatedPods>,
            ready: Option<i32>,
        }
    }
    /// One condition of a job.
    pub struct JobCondition {
        always { r#type: String, status: String }
        maybe {
            last_probe_time: Option<Time>,
            last_transition_time: Option<Time>,
            reason: String,
            message: String,
        }
    }
    /// Uids of ended pods that are not yet in the counters.
    pub struct UncountedTerminatedPods {
        maybe { succeeded: Vec<String>, failed: Vec<String> }
    }
    /// A cron job: makes a job at each time of its schedule.
    pub struct CronJob {
        always { metadata: ObjectMeta, spec: CronJobSpec, status: CronJobStatus }
    }
    /// See [`CronJob`].
    pub struct CronJobSpec {
        always { schedule: String, job_template: JobTemplateSpec }
        maybe {
            time_zone: Option<String>,
            starting_deadline_seconds: Option<i64>,
            concurrency_policy: String,
            suspend: Option<bool>,
            successful_jobs_history_limit: Option<i32>,
            failed_jobs_history_limit: Option<i32>,
        }
    }
    /// What the jobs look like.
    pub struct JobTemplateSpec {
        always { metadata: ObjectMeta, spec: JobSpec }
    }
    /// See [`CronJob`].
    pub struct CronJobStatus {
        maybe {
            active: Vec<ObjectReference>,
            last_schedule_time: Option<Time>,
            last_successful_time: Option<Time>,
        }
    }
}
whole! {
    Job: "batch";
    CronJob: "batch";
}

impl Job {
    /// A condition by its type.
    pub fn condition(&self, r#type: &str) -> Option<&JobCondition> {
        self.status.conditions.iter().find(|c| c.r#type == r#type)
    }
    /// Whether it is `Complete` or `Failed`, and which.
    pub fn finished(&self) -> Option<&JobCondition> {
        let ends =
            |c: &&JobCondition| matches!(c.r#type.as_str(), "Complete" | "Failed") && c.status == "True";
        self.status.conditions.iter().find(ends)
    }
    /// Whether each pod has an index.
    pub fn is_indexed(&self) -> bool {
        self.spec.completion_mode.as_deref() == Some("Indexed")
    }
}
