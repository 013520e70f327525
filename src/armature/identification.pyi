from armature.identify.identify import Identified as Identified
from armature.identify.identify import identify as identify
from armature.identify.reader import load_recording as load_recording
from armature.identify.recording import Recording as Recording
