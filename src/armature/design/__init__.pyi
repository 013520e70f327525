from armature.design.drives.catalogue_file import read_catalogue as read_catalogue
from armature.design.drives.drive_choice import DriveChoice as DriveChoice
from armature.design.drives.objective import Objective as Objective
from armature.design.drives.pareto import Front as Front
from armature.design.placement import BasePlacement as BasePlacement
