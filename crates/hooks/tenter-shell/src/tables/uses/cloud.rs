//! Commands that read the state of containers, clusters and clouds.

use super::Operands::{Nothing, Without};
use super::{BUILDS, READS, Uses};

const KUBECTL: &str = "-n= --namespace= -A --all-namespaces -o= --output= -l= --selector= --sort-by= --show-labels --no-headers -w --watch \
                       --context= --tail= --since= -c= --container= -p --previous --all-containers --timestamps --field-selector= -L= \
                       --ignore-not-found --request-timeout= --recursive";

/// The commands, with their options.
pub(super) const USES: &[Uses] = &[
    // Containers and clusters.
    Uses {
        names: tenter_base::phrases!(
            "docker ps, docker images, docker version, docker info, docker logs, docker top,
             docker port, docker container ls, docker image ls, docker network ls,
             docker volume ls, docker compose ps, docker compose logs, docker compose ls,
             podman ps, podman images, podman logs"
        ),
        options: "-a --all -q --quiet --no-trunc --format= -f= --filter= -n= --last= -l --tail= --since= --until= -t --timestamps \
                  --details --no-color",
        ..READS
    },
    Uses {
        names: tenter_base::phrases!(
            "kubectl get, kubectl describe, kubectl logs, kubectl top, kubectl version,
             kubectl cluster-info, kubectl api-resources, kubectl explain,
             kubectl config get-contexts, kubectl config current-context, kubectl rollout status,
             kubectl rollout history, kubectl auth can-i"
        ),
        options: KUBECTL,
        // Not what is secret, and not the dump of a cluster into files.
        operands: Without("secret"),
        ..READS
    },
    Uses {
        names: tenter_base::phrases!(
            "helm list, helm ls, helm status, helm history, helm version, helm repo list,
             helm search repo"
        ),
        options: "-n= --namespace= -A --all-namespaces -o= --output= -a --all --max= --kube-context= --versions --short",
        ..READS
    },
    // Clouds.
    Uses {
        names: tenter_base::phrases!(
            "az group list, az group show, az vm list, az vm show, az account list,
             az account show, az webapp list, az webapp show, az storage account list,
             az storage account show, az acr list, az acr show, az aks list, az aks show,
             az network vnet list, az network vnet show, az resource list, az resource show,
             az version"
        ),
        options: "-g= --resource-group= -n= --name= -o= --output= --query= --subscription= -d --show-details -l= --location=",
        operands: Nothing,
        ..READS
    },
    Uses {
        names: tenter_base::phrases!(
            "aws s3 ls, aws sts get-caller-identity, aws ec2 describe-instances,
             aws ec2 describe-vpcs, aws ec2 describe-subnets, aws ec2 describe-security-groups,
             aws ec2 describe-images, aws ec2 describe-volumes, aws iam list-users,
             aws iam list-roles, aws lambda list-functions, aws logs describe-log-groups,
             aws cloudformation describe-stacks, aws cloudformation list-stacks,
             aws ecs list-clusters, aws ecs list-services, aws ecs describe-clusters,
             aws eks list-clusters, aws eks describe-cluster, aws rds describe-db-instances"
        ),
        options: "--region= --profile= --output= --query= --no-cli-pager --filters= --max-items= --recursive --human-readable --summarize \
                  --instance-ids= --owners= --stack-name= --cluster= --clusters= --name=",
        ..READS
    },
    Uses {
        names: tenter_base::phrases!(
            "gcloud projects list, gcloud projects describe, gcloud compute instances list,
             gcloud compute instances describe, gcloud config list, gcloud auth list,
             gcloud container clusters list, gcloud container clusters describe,
             gcloud run services list, gcloud run services describe, gcloud functions list,
             gcloud functions describe, gcloud storage ls, gcloud storage buckets list,
             gcloud version"
        ),
        options: "--project= --format= --filter= --limit= --zone= --region= --sort-by= --quiet",
        ..READS
    },
    Uses {
        names: &[
            "terraform version",
            "terraform state list",
            "terraform workspace list",
            "terraform workspace show",
        ],
        options: "-no-color -json -id=",
        ..READS
    },
    Uses {
        names: &["terraform validate", "terraform providers"],
        options: "-no-color -json",
        operands: Nothing,
        ..BUILDS
    },
];
