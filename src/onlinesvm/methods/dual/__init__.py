"""Machines that climb the SVM's dual by small steps, while examples pass."""
