"""`/api`: the routes that change documents, for those who may curate."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from kgrag.serve.access import User
from kgrag.serve.api import PROBLEMS, needs
from kgrag.serve.curating import BuildState, Curating
from kgrag.serve.schemas import (
    BuildProgress,
    BuildRequest,
    BuildStep,
    DeletedDocuments,
    FailedFile,
    UploadedFile,
)

__all__ = ["router"]

ANY_BYTES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

router = APIRouter(prefix="/api", responses=PROBLEMS)


def curating_of(request: Request) -> Curating:
    """Return what changes documents, of the app."""
    curating: Curating = request.app.state.curating
    return curating


CuratingHere = Annotated[Curating, Depends(curating_of)]
Curator = Annotated[User, Depends(needs("curate"))]


@router.post("/documents", status_code=201, summary="Upload a document", openapi_extra=ANY_BYTES)
async def upload(
    request: Request,
    curating: CuratingHere,
    user: Curator,
    name: Annotated[str, Query(max_length=400, description="The file's name, with its suffix.")],
    product: Annotated[str, Query(max_length=400, description="What the document is about.")] = "",
) -> UploadedFile:
    """Write the body into the folder of uploads, in place of a file of the same name. `POST /api/build` reads it."""
    done = await curating.upload(name, product, request.stream(), user=user)
    return UploadedFile(path=done.path, bytes=done.bytes)


@router.post("/build", status_code=202, summary="Build")
async def build(body: BuildRequest, curating: CuratingHere, user: Curator) -> BuildProgress:
    """Start to build what was uploaded, or a folder of the server. `GET /api/build` says how far it is; questions go on being answered."""
    return _progress(await curating.start_build(body.folder, user=user), curating)


@router.get("/build", summary="How far the build is")
async def progress(curating: CuratingHere, user: Curator) -> BuildProgress:
    """Return the last build of this desk: its steps, and when it is done what could not be read."""
    return _progress(curating.build_state, curating)


@router.delete("/documents/{document_id}", summary="Delete a document")
async def delete(document_id: str, curating: CuratingHere, user: Curator) -> DeletedDocuments:
    """Take a document out of the store with all that only it supported. A file that was uploaded is deleted, others stay."""
    done = await curating.delete(document_id, user=user)
    return DeletedDocuments(documents=[one.path for one in done.documents], file_deleted=done.file_deleted)


@router.delete("/uploads", summary="Delete an uploaded file that is no document")
async def delete_upload(
    curating: CuratingHere,
    user: Curator,
    path: Annotated[str, Query(max_length=1_000, description="As a build names it: kgrag-uploads/manual.pdf.")],
) -> DeletedDocuments:
    """Delete a file of which the store has no document, because no build could read it."""
    await curating.delete_upload(path, user=user)
    return DeletedDocuments(documents=[], file_deleted=True)


def _progress(state: BuildState, curating: Curating) -> BuildProgress:
    report = state.report
    shown = BuildProgress(
        id=state.id,
        state=state.state,
        steps=[
            BuildStep(name=one.name, count=one.count, total=one.total, unit=one.unit, done=one.state == "done")
            for one in state.steps
        ],
        lines=state.lines,
        problem=state.problem,
    )
    if report is None:
        return shown
    return shown.model_copy(
        update={
            "new_documents": report.new_documents,
            "updated_documents": report.updated_documents,
            "unchanged_files": report.unchanged_files,
            "removed_documents": report.removed_documents,
            "failures": [
                FailedFile(
                    subject=one.subject,
                    reason=one.reason,
                    uploaded=one.stage == "convert" and curating.is_upload(one.subject),
                )
                for one in report.failures
            ],
            "notes": report.notes,
        }
    )
